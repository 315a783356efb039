#include "reports/trend.h"

#include <algorithm>

#include "base/text.h"
#include "reports/figure.h"
#include "reports/plot.h"

namespace assay::reports {
namespace {

std::string EventText(const Say& say, const Trend& trend, const Trend::Event& event) {
  const std::string at =
      event.index < trend.points.size() ? trend.points[event.index].commit.substr(0, 12) : "";
  const std::string what = event.kind == Trend::EventKind::kWorse    ? say("worse")
                           : event.kind == Trend::EventKind::kBetter ? say("better")
                                                                     : say("not compared across");
  return say("{} from {}: {}", what, at.empty() ? say("unknown") : at, say.Verdict(event.text));
}

}  // namespace

std::string TrendFigure(const Page& page, const Trend& trend) {
  if (trend.points.empty()) return "";
  const Say& say = page.say;
  CurvePlot plot;
  Curve curve{Arm::kHead, trend.metric, {}, true};
  double low = trend.points.front().value, high = low;
  for (size_t i = 0; i < trend.points.size(); ++i) {
    const Trend::Point& point = trend.points[i];
    curve.points.emplace_back(static_cast<double>(i + 1), point.value);
    curve.point_texts.push_back(Join({point.created, point.commit.substr(0, 12)}, " "));
    low = std::min(low, point.value);
    high = std::max(high, point.value);
  }
  const double room = high > low ? (high - low) * 0.15 : std::max(1e-9, std::abs(high) * 0.05);
  plot.x_low = 0.5;
  plot.x_high = static_cast<double>(trend.points.size()) + 0.5;
  plot.y_low = low - room;
  plot.y_high = high + room;
  plot.x_label = say("runs, oldest first");
  plot.y_label = trend.unit;
  plot.curves = {std::move(curve)};
  std::string events;
  for (const Trend::Event& event : trend.events) {
    const std::string text = EventText(say, trend, event);
    plot.marks.push_back(
        {static_cast<double>(event.index) + 0.5, text, event.kind == Trend::EventKind::kReset});
    events += page.markup.Item(page.markup.Text(text));
  }
  const std::string caption =
      page.markup.Text(trend.metric + (trend.machine.empty() ? "" : ", " + trend.machine));
  return Figure(caption, CurveSvg(plot) + page.markup.List(events), "");
}

std::string TrendFigures(const Page& page, const std::string& cell) {
  std::string figures;
  for (const Trend& trend : page.input.trends) {
    if (trend.cell == cell) figures += TrendFigure(page, trend);
  }
  return figures;
}

}  // namespace assay::reports
