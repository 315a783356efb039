#include "reports/history_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/golden.h"

namespace assay::reports {
namespace {

std::vector<Trend> ExampleTrends() {
  Trend trend{"tiny-moe.cpu.smoke", "128x32.tpot_p50_ms", "ms", "AMD EPYC 9B45 x 2", {}, {}};
  for (int i = 0; i < 24; ++i) {
    const double value = (i < 14 ? 5.0 : 5.6) + 0.02 * (i % 3);
    trend.points.push_back(
        {fmt::format("2026-11-{:02}T03:00:00Z", i + 1), fmt::format("{:040x}", i + 1), value});
  }
  trend.events = {{7, Trend::EventKind::kReset, "kernel: 6.1.0 to 6.1.1"},
                  {14, Trend::EventKind::kWorse, "+11.6 % <script>alert(1)</script>"}};
  Trend score = trend;
  score.metric = "gpqa_score";
  score.unit = "";
  score.events.clear();
  for (Trend::Point& point : score.points) point.value = 0.9375;
  return {trend, score};
}

// The browser's test opens it too.
TEST(RenderHistoryHtml, IsTheGoldenPage) {
  testing::ExpectGolden(RenderHistoryHtml("History of main", ExampleTrends(), Language::kEnglish),
                        Path(ASSAY_SOURCE_DIR) / "reports/golden/history/report.html");
}

TEST(RenderHistoryHtml, DrawsALineWhereAMetricChanged) {
  const std::string page = RenderHistoryHtml("x", ExampleTrends(), Language::kEnglish);
  EXPECT_THAT(page, ::testing::HasSubstr("<title>worse from 00000000000"));
  EXPECT_THAT(page, ::testing::HasSubstr("class=\"mark quiet\""));
  EXPECT_THAT(page, ::testing::Not(::testing::HasSubstr("<script")));
}

TEST(RenderHistoryHtml, SaysThatThereIsNothing) {
  EXPECT_THAT(RenderHistoryHtml("x", {}, Language::kEnglish), ::testing::HasSubstr("Trends: 0. Cells: 0."));
}

}  // namespace
}  // namespace assay::reports
