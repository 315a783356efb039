#include <gtest/gtest.h>

#include "record/run_record.h"

namespace assay::record {
namespace {

QuestionSample Answer(const char* strict, bool correct, const char* finish = "stop", const char* error = "") {
  QuestionSample sample;
  sample.strict = strict;
  sample.correct = correct;
  sample.finish_reason = finish;
  sample.error = error;
  return sample;
}

TEST(Count, KeepsUnparsedTruncatedAndFailedApart) {
  AccuracyRecord accuracy;
  accuracy.grader = "strict";
  accuracy.samples = {Answer("A", true), Answer("B", false), Answer("", false, "length"), Answer("", false),
                      Answer("", false, "", "connection reset")};
  const AccuracyCounts counts = Count(accuracy);
  EXPECT_EQ(counts.samples, 5);
  EXPECT_EQ(counts.correct, 1);
  EXPECT_EQ(counts.unparsed, 2);
  EXPECT_EQ(counts.truncated, 1);
  EXPECT_EQ(counts.failed, 1);
}

// gpt-oss's grader falls back to the first character of the text, which need not be a letter A-D.
TEST(Count, TakesTheCompatFallbackForUnparsed) {
  AccuracyRecord accuracy;
  accuracy.grader = "compat";
  accuracy.samples = {Answer("A", true)};
  accuracy.samples[0].compat = "T";
  EXPECT_EQ(Count(accuracy).unparsed, 1);
}

TEST(AllMetrics, PutsTheScoreFirstAndNamesTheBenchmark) {
  CellRecord cell;
  cell.accuracy.emplace();
  cell.accuracy->samples = {Answer("A", true), Answer("B", false)};
  ServingRecord serving;
  serving.name = "1k1k";
  serving.metrics = {{"ttft_p50_ms", "ms", Direction::kLowerIsBetter, 3.0, 64}};
  cell.serving = {serving};
  const std::vector<Metric> metrics = AllMetrics(cell);
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "gpqa_score");
  EXPECT_EQ(metrics[0].value, 0.5);
  EXPECT_EQ(metrics[0].samples, 2);
  EXPECT_EQ(metrics[1].name, "1k1k.ttft_p50_ms");
}

TEST(AllMetrics, HasNoScoreOfNothing) {
  CellRecord cell;
  cell.accuracy.emplace();
  EXPECT_FALSE(AllMetrics(cell)[0].value.has_value());
}

}  // namespace
}  // namespace assay::record
