#include "runner/store/history_page.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

gate::Trend ChangedTrend() {
  gate::Trend trend;
  trend.cell = "tiny-moe.cpu.smoke";
  trend.metric = "128x32.tpot_p50_ms";
  for (int i = 0; i < 12; ++i) trend.points.push_back({"run", "2026-11-01", "abc", i < 6 ? 5.0 : 6.0});
  trend.changes.push_back(
      {{.index = 6, .p_value = 0.0005, .before = 5, .after = 6, .change = 0.2}, true, "kim"});
  trend.resets.push_back({3, {"driver: 570.1 to 580.2"}});
  return trend;
}

TEST(DrawnTrends, KeepsWhatHappenedInOrder) {
  const std::vector<reports::Trend> drawn = DrawnTrends({ChangedTrend()});
  ASSERT_EQ(drawn.size(), 1u);
  ASSERT_EQ(drawn[0].points.size(), 12u);
  EXPECT_EQ(drawn[0].points[6].value, 6.0);
  ASSERT_EQ(drawn[0].events.size(), 2u);
  EXPECT_EQ(drawn[0].events[0].text, "driver: 570.1 to 580.2");
  EXPECT_EQ(drawn[0].events[1].kind, reports::Trend::EventKind::kWorse);
  EXPECT_EQ(drawn[0].events[1].text, "+20.0 %, p 0.0005; accepted by kim");
}

}  // namespace
}  // namespace assay::runner
