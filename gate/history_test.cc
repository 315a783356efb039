#include "gate/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::gate {
namespace {

using record::Direction;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kTpot[] = "128x32.tpot_p50_ms";

// A run a night with this TPOT; it wanders by a thousandth, so that no two are equal.
std::vector<HistoryRun> Nights(const std::vector<double>& tpot) {
  std::vector<HistoryRun> runs;
  for (size_t i = 0; i < tpot.size(); ++i) {
    HistoryRun run{fmt::format("r{:02}", i),
                   fmt::format("2026-11-{:02}T02:00:00Z", i + 1),
                   fmt::format("c{}", i),
                   "cpu.tiny-moe.smoke",
                   "hash",
                   {},
                   {}};
    run.fingerprint.host = "0123456789abcdef";
    run.fingerprint.device = "EPYC";
    run.fingerprint.devices = 2;
    const double value = tpot[i] * (1 + 0.001 * static_cast<double>(i * 7 % 5));
    run.metrics = {{kTpot, "ms", Direction::kLowerIsBetter, value, 64}};
    runs.push_back(run);
  }
  return runs;
}

std::vector<double> Levels(size_t first, double a, size_t second, double b) {
  std::vector<double> values(first, a);
  values.insert(values.end(), second, b);
  return values;
}

HistoryOptions Margin(double margin) {
  HistoryOptions options;
  options.rule.min_change = margin;
  options.today = "2026-12-01";
  return options;
}

TEST(History, NamesTheRunAtWhichAMetricGotWorse) {
  const auto trends = BuildHistory(Nights(Levels(12, 20, 12, 22)), Margin(0.03));
  ASSERT_THAT(trends, SizeIs(1));
  const Trend& trend = trends[0];
  EXPECT_EQ(trend.metric, kTpot);
  EXPECT_EQ(trend.machine, "EPYC x 2 (host 01234567)");
  ASSERT_THAT(trend.changes, SizeIs(1));
  EXPECT_EQ(trend.points[trend.changes[0].at.index].run_id, "r12");
  EXPECT_TRUE(trend.changes[0].worse);
  EXPECT_NEAR(trend.changes[0].at.change, 0.10, 0.005);
}

TEST(History, CallsAFallOfALatencyBetter) {
  const auto trends = BuildHistory(Nights(Levels(12, 22, 12, 20)), Margin(0.03));
  ASSERT_THAT(trends.at(0).changes, SizeIs(1));
  EXPECT_FALSE(trends[0].changes[0].worse);
}

TEST(History, BeginsAnewWhereTheDriverChanged) {
  std::vector<HistoryRun> runs = Nights(Levels(12, 20, 12, 22));
  for (size_t i = 12; i < runs.size(); ++i) runs[i].fingerprint.driver = "580.2";
  for (size_t i = 0; i < 12; ++i) runs[i].fingerprint.driver = "570.1";
  const Trend trend = BuildHistory(runs, Margin(0.03)).at(0);
  EXPECT_THAT(trend.changes, IsEmpty()) << "the driver explains it";
  ASSERT_THAT(trend.resets, SizeIs(1));
  EXPECT_EQ(trend.resets[0].index, 12u);
  EXPECT_THAT(trend.resets[0].reasons, ElementsAre("driver: 570.1 to 580.2"));
  EXPECT_EQ(trend.points_since_reset, 12u);
}

TEST(History, KeepsMachinesApartForSpeedAndTogetherForAnswers) {
  std::vector<HistoryRun> runs = Nights(std::vector<double>(6, 20));
  for (size_t i = 0; i < runs.size(); ++i) {
    if (i % 2 == 1) runs[i].fingerprint.host = "ffff";
    runs[i].metrics.push_back({"gpqa_score", "", Direction::kHigherIsBetter, 0.5, 100});
  }
  const auto trends = BuildHistory(runs, Margin(0.03));
  ASSERT_THAT(trends, SizeIs(3));
  EXPECT_THAT(trends[0].points, SizeIs(3));
  EXPECT_THAT(trends[0].resets, IsEmpty());
  EXPECT_EQ(trends[2].metric, "gpqa_score");
  EXPECT_THAT(trends[2].points, SizeIs(6));
  EXPECT_THAT(trends[2].resets, IsEmpty());
}

TEST(History, JudgesScoresByTheirDifference) {
  std::vector<HistoryRun> runs = Nights(std::vector<double>(24, 20));
  for (size_t i = 0; i < runs.size(); ++i) {
    const double score = (i < 12 ? 0.90 : 0.84) + 0.001 * static_cast<double>(i % 3);
    runs[i].metrics = {{"gpqa_score", "", Direction::kHigherIsBetter, score, 448}};
  }
  const Trend trend = BuildHistory(runs, Margin(0.5)).at(0);
  ASSERT_THAT(trend.changes, SizeIs(1));
  EXPECT_EQ(trend.changes[0].at.index, 12u);
  EXPECT_NEAR(trend.changes[0].at.change, -0.06, 0.001);
  EXPECT_TRUE(trend.changes[0].worse);
}

TEST(History, SaysWhoAcknowledgedAChangeForTheWorse) {
  HistoryOptions options = Margin(0.03);
  options.acknowledgements = {{"", "cpu.tiny-moe.smoke", kTpot, "kim", "new sampler", "", "2026-12-31"}};
  Trend trend = BuildHistory(Nights(Levels(12, 20, 12, 22)), options).at(0);
  EXPECT_EQ(trend.changes.at(0).acknowledged, "kim until 2026-12-31: new sampler");
  options.today = "2027-01-01";
  trend = BuildHistory(Nights(Levels(12, 20, 12, 22)), options).at(0);
  EXPECT_EQ(trend.changes.at(0).acknowledged, "");
}

}  // namespace
}  // namespace assay::gate
