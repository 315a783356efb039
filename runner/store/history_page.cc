#include "runner/store/history_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "reports/history_html.h"

namespace assay::runner {
namespace {

using Event = reports::Trend::Event;
using EventKind = reports::Trend::EventKind;

Event ChangeEvent(const gate::Trend& trend, const gate::TrendChange& change) {
  const bool score = trend.metric.ends_with("_score");
  std::string text = score
                         ? fmt::format("{:+.2f} points, p {:.4f}", change.at.change * 100, change.at.p_value)
                         : fmt::format("{:+.1f} %, p {:.4f}", change.at.change * 100, change.at.p_value);
  if (!change.acknowledged.empty()) text += "; accepted by " + change.acknowledged;
  return {change.at.index, change.worse ? EventKind::kWorse : EventKind::kBetter, text};
}

reports::Trend Drawn(const gate::Trend& trend) {
  reports::Trend drawn{trend.cell, trend.metric, trend.unit, trend.machine, {}, {}};
  for (const gate::TrendPoint& point : trend.points)
    drawn.points.push_back({point.created, point.commit, point.value});
  for (const gate::TrendReset& reset : trend.resets)
    drawn.events.push_back({reset.index, EventKind::kReset, Join(reset.reasons, "; ")});
  for (const gate::TrendChange& change : trend.changes) drawn.events.push_back(ChangeEvent(trend, change));
  std::stable_sort(drawn.events.begin(), drawn.events.end(),
                   [](const Event& a, const Event& b) { return a.index < b.index; });
  return drawn;
}

}  // namespace

std::vector<reports::Trend> DrawnTrends(const std::vector<gate::Trend>& trends) {
  std::vector<reports::Trend> drawn;
  for (const gate::Trend& trend : trends) drawn.push_back(Drawn(trend));
  return drawn;
}

std::string HistoryPage(const std::string& title, const std::vector<gate::Trend>& trends,
                        reports::Language language) {
  return reports::RenderHistoryHtml(title, DrawnTrends(trends), language);
}

}  // namespace assay::runner
