#include "gate/regression.h"

#include <algorithm>
#include <iterator>

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

std::vector<Regression> Regressions(const std::vector<JudgedRun>& runs) {
  std::map<std::string, std::vector<Regression>> of_metric;
  for (const JudgedRun& run : runs) {
    for (const auto& [metric, outcome] : run.metrics) {
      std::vector<Regression>& all = of_metric[metric];
      const bool open = !all.empty() && all.back().open;
      if (!open && outcome == Outcome::kFail)
        all.push_back({metric, run.run_id, run.created, run.commit, 1, true});
      if (open && outcome == Outcome::kPass) all.back().open = false;
      if (open && outcome != Outcome::kPass) ++all.back().runs;
    }
  }
  std::vector<Regression> regressions;
  for (auto& [metric, all] : of_metric) std::move(all.begin(), all.end(), std::back_inserter(regressions));
  return regressions;
}

std::vector<Regression> OpenRegressions(const std::vector<JudgedRun>& runs) {
  std::vector<Regression> regressions = Regressions(runs);
  std::erase_if(regressions, [](const Regression& regression) { return !regression.open; });
  return regressions;
}

}  // namespace assay::gate
