#include "gate/regression.h"

#include "gate/acknowledge.h"

namespace assay::gate {

using record::Check;
using record::Outcome;

std::map<std::string, Outcome> ComparedMetrics(const record::Verdict& verdict, const std::string& cell) {
  std::map<std::string, Outcome> metrics;
  for (const Check& check : verdict.checks) {
    const std::string metric = check.cell == cell ? MetricOf(check) : "";
    const bool decides = check.primary || !check.acknowledged.empty();
    if (metric.empty() || !decides) continue;
    const auto [found, fresh] = metrics.emplace(metric, check.outcome);
    if (fresh || found->second == Outcome::kFail) continue;
    if (check.outcome != Outcome::kPass) found->second = check.outcome;
  }
  return metrics;
}

std::vector<Regression> OpenRegressions(const std::vector<JudgedRun>& runs) {
  std::map<std::string, Regression> open;
  for (const JudgedRun& run : runs) {
    for (const auto& [metric, outcome] : run.metrics) {
      if (outcome == Outcome::kFail)
        open.emplace(metric, Regression{metric, run.run_id, run.created, run.commit});
      if (outcome == Outcome::kPass) open.erase(metric);
    }
  }
  std::vector<Regression> regressions;
  for (auto& [metric, regression] : open) regressions.push_back(std::move(regression));
  return regressions;
}

}  // namespace assay::gate
