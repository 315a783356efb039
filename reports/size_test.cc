#include <gtest/gtest.h>

#include "base/text.h"
#include "reports/markdown.h"
#include "reports/markdown_text.h"
#include "testing/example_run.h"

namespace assay::reports {
namespace {

using record::Check;
using record::Outcome;

constexpr size_t kGithubComment = 65'536;    // characters
constexpr size_t kMiB = 1024 * 1024;         // a step's summary, a Buildkite annotation
constexpr size_t kGitlabJunit = 30'000'000;  // bytes a file

Check SpeedCheck(const std::string& cell, const char* metric, Outcome outcome) {
  Check check;
  check.cell = cell;
  check.group = "serving:1k1k";
  check.metric = metric;
  check.rule = "performance";
  check.outcome = outcome;
  check.unit = "ms";
  check.value = 5.5;
  check.reference = 5;
  check.change = 0.1;
  check.ci_low = 0.09;
  check.ci_high = 0.11;
  check.margin = 0.03;
  check.baseline_samples = 3;
  check.reason = outcome == Outcome::kFail
                     ? "+10.0 % (95 % +9.0 % to +11.0 %): worse by more than the margin of 3 %"
                     : "0.1 % (95 % -1.0 % to +1.0 %): a loss of 3 % is excluded";
  return check;
}

struct Matrix {
  record::RunRecord record;
  record::Verdict verdict;
  std::vector<std::string> failing;  // keys of cells
};

// Each cell with an eval, a benchmark of three metrics, and ten validity checks, as real ones have.
Matrix MatrixOf(int cells, int failing) {
  Matrix matrix;
  matrix.record = testing::ExampleRun();
  matrix.record.cells.clear();
  matrix.verdict.headline = "FAIL: a matrix";
  matrix.verdict.outcome = Outcome::kFail;
  matrix.verdict.exit_code = 1;
  record::CellRecord example = testing::ExampleCell();
  example.accuracy = testing::ExampleAccuracy(16, 12);
  example.serving = {testing::ExampleServing(20, 5, 8)};
  example.serving[0].name = "1k1k";
  for (int i = 0; i < cells; ++i) {
    record::CellRecord cell = example;
    cell.key = fmt::format("gpt-oss-20b-w-mxfp4-a-bf16.mi355.aiter.{:03}", i);
    const bool fails = i % (cells / failing) == 0 && static_cast<int>(matrix.failing.size()) < failing;
    if (fails) matrix.failing.push_back(cell.key);
    for (int v = 0; v < 10; ++v) {
      Check check = SpeedCheck(cell.key, "V", Outcome::kPass);
      check.group = "validity";
      check.rule = "validity";
      check.metric = fmt::format("V{}_some_check_of_validity.1k1k", v);
      matrix.verdict.checks.push_back(check);
    }
    for (const char* metric : {"output_throughput_tok_s", "ttft_p50_ms", "tpot_p50_ms"})
      matrix.verdict.checks.push_back(SpeedCheck(cell.key, metric, fails ? Outcome::kFail : Outcome::kPass));
    matrix.verdict.notes.push_back({cell.key, "baseline", "compared with 3 stored runs of main"});
    matrix.record.cells.push_back(std::move(cell));
  }
  return matrix;
}

size_t LinesOf(const std::string& page, const std::string& cell) {
  size_t count = 0;
  for (const std::string& line : SplitLines(page)) count += line.find("`" + cell + "`") != std::string::npos;
  return count;
}

void ExpectAllFailuresWithin(const Matrix& matrix, Language language) {
  ReportInput input{matrix.record, matrix.verdict};
  input.language = language;
  const std::string comment = RenderComment(input);
  EXPECT_LE(Characters(comment), kGithubComment);
  for (const std::string& cell : matrix.failing) EXPECT_GE(LinesOf(comment, cell), 1u) << cell;
  for (const Report& report : ReportTable()) {
    if (report.format != "github" && report.format != "buildkite") continue;
    const std::string page = report.render(input);
    EXPECT_LE(page.size(), kMiB) << report.format;
    for (const std::string& cell : matrix.failing)
      EXPECT_GE(LinesOf(page, cell), 3u) << report.format << cell;
  }
}

TEST(Sizes, AMatrixOf500CellsKeepsAllFailuresWithinEveryLimit) {
  const Matrix matrix = MatrixOf(500, 40);
  ExpectAllFailuresWithin(matrix, Language::kEnglish);
  ExpectAllFailuresWithin(matrix, Language::kChinese);
  const ReportInput input{matrix.record, matrix.verdict};
  EXPECT_LE(FindReport("junit")->render(input).size(), kGitlabJunit);
}

TEST(Sizes, ACommentKeepsEachOf500FailingCells) {
  ExpectAllFailuresWithin(MatrixOf(500, 500), Language::kEnglish);
}

TEST(Sizes, RowsThatPassGoFirstAndThePageSaysSo) {
  const Matrix matrix = MatrixOf(500, 40);
  const ReportInput input{matrix.record, matrix.verdict};
  const std::string page = RenderComment(input);
  EXPECT_NE(page.find("Left out: "), std::string::npos);
  EXPECT_NE(page.find("rows that pass"), std::string::npos);
  for (const record::CellRecord& cell : matrix.record.cells) {
    const bool fails =
        std::find(matrix.failing.begin(), matrix.failing.end(), cell.key) != matrix.failing.end();
    if (!fails) {
      EXPECT_EQ(LinesOf(page, cell.key), 0u) << cell.key;
    }
  }
}

TEST(Sizes, ASmallPageIsWhole) {
  const Matrix matrix = MatrixOf(2, 1);
  const ReportInput input{matrix.record, matrix.verdict};
  EXPECT_EQ(RenderComment(input).find("Left out: "), std::string::npos);
}

TEST(Sizes, WhatCannotFitIsCountedAndNeverTooLong) {
  const Matrix matrix = MatrixOf(2500, 2500);
  const ReportInput input{matrix.record, matrix.verdict};
  const std::string page = RenderComment(input);
  EXPECT_LE(Characters(page), kGithubComment);
  size_t shown = 0;
  for (const std::string& line : SplitLines(page)) shown += line.find("**FAIL** ") != std::string::npos;
  const size_t lines = 2500 / 20;
  EXPECT_LT(shown, lines);
  EXPECT_NE(page.find(fmt::format("{} lines of what fails", lines - shown)), std::string::npos) << shown;
}

}  // namespace
}  // namespace assay::reports
