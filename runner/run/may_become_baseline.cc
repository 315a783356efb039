#include "runner/run/may_become_baseline.h"

#include <algorithm>
#include <cmath>

namespace assay::runner {

bool MayBecomeBaseline(const std::vector<gate::CellPolicy>& policies, const record::Verdict& verdict) {
  for (const gate::CellPolicy& policy : policies) {
    if (!policy.baseline.requested) return false;
  }
  const auto slower = [](const record::Check& check) {
    if (!check.primary || check.rule != "performance" || !check.ci_low || !check.ci_high) return false;
    const bool higher = check.direction == record::Direction::kHigherIsBetter;
    // The noise floor knows how runs of equal code differ from far more of them than the interval does.
    if (check.noise_floor && check.change && std::abs(*check.change) <= *check.noise_floor) return false;
    return check.outcome == record::Outcome::kInconclusive &&
           (higher ? *check.ci_high < 0 : *check.ci_low > 0);
  };
  return std::none_of(verdict.checks.begin(), verdict.checks.end(), slower);
}

}  // namespace assay::runner
