#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/report.h"
#include "testing/example_run.h"

// A published comparison of two backends on one machine (vLLM pull request 38504, 1024 in / 1024 out), as its
// author laid it out: a row a metric, both arms of each backend beside each other.
namespace assay::reports {
namespace {

using record::Direction;
using record::Outcome;
using ::testing::HasSubstr;

struct Figure {
  const char *metric, *unit;
  Direction direction;
  double main_triton, main_aiter, pr_triton, pr_aiter;
};
constexpr Figure kFigures[] = {
    {"output_throughput_tok_s", "tok/s", Direction::kHigherIsBetter, 392.62, 540.17, 467.22, 527.19},
    {"ttft_mean_ms", "ms", Direction::kLowerIsBetter, 69.90, 38.70, 80.01, 37.85},
    {"tpot_mean_ms", "ms", Direction::kLowerIsBetter, 109.03, 54.68, 123.46, 54.23},
};
constexpr struct {
  const char *backend, *main, *pr;
  int64_t main_right, pr_right;  // of 1584
} kScores[] = {{"triton", "0.5701 (903/1584)", "0.5726 (907/1584)", 903, 907},
               {"aiter", "0.5739 (909/1584)", "0.5600 (887/1584)", 909, 887}};

record::Check Speed(const std::string& cell, const Figure& figure, double main, double pr) {
  record::Check check;
  check.cell = cell;
  check.group = "serving:1k1k";
  check.metric = figure.metric;
  check.rule = "performance";
  check.unit = figure.unit;
  check.direction = figure.direction;
  check.value = pr;
  check.reference = main;
  check.change = pr / main - 1;
  check.margin = 0.03;
  check.mde = 0.052;
  const double worse = figure.direction == Direction::kHigherIsBetter ? -*check.change : *check.change;
  check.outcome = worse > 0.03 ? Outcome::kFail : Outcome::kPass;
  check.reason = "as published";
  return check;
}

record::Check Score(const std::string& cell, int64_t main, int64_t pr) {
  record::Check check;
  check.cell = cell;
  check.group = "accuracy";
  check.metric = "gpqa_score";
  check.rule = "unpaired";
  check.value = static_cast<double>(pr) / 1584;
  check.reference = static_cast<double>(main) / 1584;
  check.samples = check.baseline_samples = 1584;
  check.change = *check.value - *check.reference;
  check.reason = "as published";
  return check;
}

std::string Page() {
  record::RunRecord run = testing::ExampleRun();
  const record::CellRecord example = run.cells[0];
  run.cells.clear();
  record::Verdict verdict;
  verdict.outcome = Outcome::kFail;
  verdict.headline = "FAIL";
  for (const auto& score : kScores) {
    record::CellRecord cell = example;
    cell.key = std::string("gpt-oss-20b.gfx950.") + score.backend;
    cell.server.moe_backend = score.backend;
    cell.serving[0].name = "1k1k";
    cell.accuracy.reset();
    const bool triton = cell.server.moe_backend == "triton";
    verdict.checks.push_back(Score(cell.key, score.main_right, score.pr_right));
    for (const Figure& figure : kFigures) {
      verdict.checks.push_back(Speed(cell.key, figure, triton ? figure.main_triton : figure.main_aiter,
                                     triton ? figure.pr_triton : figure.pr_aiter));
    }
    run.cells.push_back(std::move(cell));
  }
  ReportInput input{run, verdict};
  input.base_name = "main";
  input.head_name = "PR";
  return FindReport("md")->render(input);
}

TEST(SeedTable, ServingHasAColumnForEachArmAndBackend) {
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("| metric | main triton | main aiter | PR triton | PR aiter |"));
  EXPECT_THAT(page, HasSubstr("| `ttft_mean_ms` | 69.90 ms | 38.70 ms | 80.01 ms | 37.85 ms |"));
  EXPECT_THAT(page, HasSubstr("| `tpot_mean_ms` | 109.0 ms | 54.68 ms | 123.5 ms | 54.23 ms |"));
}

// +14.464 %: the change that the published figures make.
TEST(SeedTable, EachFigureIsJudgedBelow) {
  EXPECT_THAT(Page(), HasSubstr("| 1k1k | `ttft_mean_ms` | triton | +14.5 % |  | 3 % | 5.2 % | **FAIL** |"));
}

TEST(SeedTable, ScoresHaveARowForEachVariant) {
  const std::string page = Page();
  EXPECT_THAT(page, HasSubstr("| variant | main | PR | change |"));
  for (const auto& score : kScores)
    EXPECT_THAT(page, HasSubstr(fmt::format("| {} | {} |", score.main, score.pr))) << score.backend;
}

TEST(SeedTable, NamesTheAffectedConfig) {
  EXPECT_THAT(Page(), HasSubstr("1 of 2 cells show: slowdown (`gpt-oss-20b.gfx950.triton`)."));
}

}  // namespace
}  // namespace assay::reports
