#include "gate/history.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "base/text.h"
#include "gate/acknowledge.h"

namespace assay::gate {
namespace {

using record::Direction;
using record::Metric;

bool IsScore(const std::string& metric) {
  return metric.ends_with("_score");
}

std::string MachineOf(const record::Fingerprint& fingerprint) {
  return fmt::format("{} x {} (host {})", fingerprint.device.empty() ? "unknown device" : fingerprint.device,
                     fingerprint.devices,
                     fingerprint.host.empty() ? "unknown" : fingerprint.host.substr(0, 8));
}

// Why a run cannot stand in one line with the one before it.
std::vector<std::string> ResetReasons(const HistoryRun& before, const HistoryRun& now, bool score) {
  std::vector<std::string> reasons;
  if (before.config_hash != now.config_hash) reasons.emplace_back("the config's engine or evals changed");
  for (const record::FingerprintDifference& d : Differences(now.fingerprint, before.fingerprint)) {
    if (!(score ? d.breaks_accuracy : d.breaks_performance)) continue;
    const auto shown = [](const std::string& text) { return text.empty() ? "unknown" : text.substr(0, 40); };
    reasons.push_back(fmt::format("{}: {} to {}", d.field, shown(d.theirs), shown(d.ours)));
  }
  return reasons;
}

struct Series {
  Trend trend;
  std::vector<const HistoryRun*> runs;  // beside the points
};

using SeriesKey = std::tuple<std::string, std::string, std::string>;  // cell, metric, machine

std::map<SeriesKey, Series> Collect(const std::vector<HistoryRun>& runs) {
  std::map<SeriesKey, Series> all;
  for (const HistoryRun& run : runs) {
    // Answers may come from any machine; speed is of one.
    const std::string machine = MachineOf(run.fingerprint);
    for (const Metric& metric : run.metrics) {
      const bool score = IsScore(metric.name);
      if (!metric.value || (!score && *metric.value <= 0)) continue;
      Series& series = all[{run.cell, metric.name, score ? "" : machine}];
      series.trend.cell = run.cell;
      series.trend.metric = metric.name;
      series.trend.unit = metric.unit;
      series.trend.direction = metric.direction;
      series.trend.machine = score ? "any" : machine;
      series.trend.points.push_back({run.run_id, run.created, run.commit, *metric.value});
      series.runs.push_back(&run);
    }
  }
  return all;
}

void AddResets(const std::vector<const HistoryRun*>& runs, Trend& trend) {
  for (size_t i = 1; i < runs.size(); ++i) {
    auto reasons = ResetReasons(*runs[i - 1], *runs[i], IsScore(trend.metric));
    if (!reasons.empty()) trend.resets.push_back({i, std::move(reasons)});
  }
}

std::string AcknowledgedBy(const Trend& trend, const HistoryOptions& options) {
  const Acknowledgement* found = FindAcknowledgement(options.acknowledgements, trend.cell, trend.metric);
  return found != nullptr && HoldsOn(*found, options.today) ? Words(*found) : "";
}

void AddChanges(size_t begin, size_t end, const HistoryOptions& options, Trend& trend) {
  std::vector<double> values;
  for (size_t i = begin; i < end; ++i) values.push_back(trend.points[i].value);
  ChangePointRule rule = options.rule;
  if (IsScore(trend.metric)) {
    rule.relative = false;
    rule.min_change = options.score_margin;
  }
  for (ChangePoint& point : FindChangePoints(values, rule)) {
    point.index += begin;
    TrendChange change{point, (point.change < 0) == (trend.direction == Direction::kHigherIsBetter), ""};
    if (change.worse) change.acknowledged = AcknowledgedBy(trend, options);
    trend.changes.push_back(std::move(change));
  }
}

}  // namespace

std::vector<Trend> BuildHistory(const std::vector<HistoryRun>& runs, const HistoryOptions& options) {
  std::vector<Trend> trends;
  for (auto& [key, series] : Collect(runs)) {
    Trend& trend = series.trend;
    AddResets(series.runs, trend);
    size_t begin = 0;
    for (const TrendReset& reset : trend.resets) {
      AddChanges(begin, reset.index, options, trend);
      begin = reset.index;
    }
    AddChanges(begin, trend.points.size(), options, trend);
    trend.points_since_reset = trend.points.size() - begin;
    trends.push_back(std::move(trend));
  }
  return trends;
}

}  // namespace assay::gate
