#include "reports/plot.h"

#include <gtest/gtest.h>

#include "reports/plot_data.h"
#include "testing/example_run.h"

namespace assay::reports {
namespace {

TEST(Ticks, AreRoundNumbersWithinTheRange) {
  EXPECT_EQ(Ticks(0, 100, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(Ticks(0, 1, 4), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}));
  EXPECT_EQ(Ticks(17, 43, 5), (std::vector<double>{20, 25, 30, 35, 40}));
  EXPECT_EQ(Ticks(3, 3, 5), (std::vector<double>{3}));
}

TEST(CurveSvg, CutsACurveAtTheAxis) {
  CurvePlot plot;
  plot.x_high = 1;
  plot.curves = {{Arm::kHead, "x", {{0, 0}, {2, 1}}, false}};
  // From the left edge at the bottom to the right edge half way up.
  EXPECT_NE(CurveSvg(plot).find("d=\"M52.0 190.0L380.0 105.0\""), std::string::npos) << CurveSvg(plot);
}

TEST(CumulativeShare, RisesFromZeroToOne) {
  const auto points = CumulativeShare({3, 1, 2, 4});
  EXPECT_EQ(points, (std::vector<std::pair<double, double>>{{1, 0}, {1, .25}, {2, .5}, {3, .75}, {4, 1}}));
  EXPECT_TRUE(CumulativeShare({}).empty());
  std::vector<double> many(10007, 5);
  EXPECT_LE(CumulativeShare(many).size(), 210u);
  EXPECT_EQ(CumulativeShare(many).back().second, 1);
}

TEST(LatencyOfRequests, IsThatOfTheirTimes) {
  const record::ServingRecord serving = testing::ExampleServing(20, 5);
  EXPECT_NEAR(TtftMs(serving).at(7), 20, 1e-9);
  EXPECT_NEAR(TpotMs(serving).at(7), 5, 1e-9);
  EXPECT_NEAR(E2elMs(serving).at(7), 20 + 31 * 5, 1e-9);
}

TEST(LatencyOfRequests, LeavesFailedOnesOut) {
  record::ServingRecord serving = testing::ExampleServing(20, 5, 4);
  serving.requests[1].error = "HTTP 500";
  EXPECT_EQ(TtftMs(serving).size(), 3u);
}

TEST(TokenRate, AddsUpToAllTokens) {
  const record::ServingRecord serving = testing::ExampleServing(20, 5);  // 64 requests of 32 tokens
  const int bins = 40;
  double tokens = 0;
  for (const auto& [at, rate] : TokenRate(serving, serving.duration_s, bins))
    tokens += rate * serving.duration_s / bins;
  EXPECT_NEAR(tokens, 64 * 32, 1);
}

}  // namespace
}  // namespace assay::reports
