#include "runner/run/advance.h"

#include <algorithm>

#include "base/check.h"
#include "gate/acknowledge.h"
#include "gate/regression.h"
#include "runner/store/regressions.h"

namespace assay::runner {
namespace {

// A passing run that is significantly slower, though not by a proven margin, is none: the baseline must not
// follow a loss. One that only varies as runs do is: taking the fast ones alone would raise the bar by
// chance.
bool MayBecomeBaseline(const std::vector<gate::CellPolicy>& policies, const record::Verdict& verdict) {
  for (const gate::CellPolicy& policy : policies) {
    if (!policy.baseline.requested) return false;
  }
  const auto slower = [](const record::Check& check) {
    if (!check.primary || check.rule != "performance" || !check.ci_low || !check.ci_high) return false;
    const bool higher = check.direction == record::Direction::kHigherIsBetter;
    return check.outcome == record::Outcome::kInconclusive &&
           (higher ? *check.ci_high < 0 : *check.ci_low > 0);
  };
  return std::none_of(verdict.checks.begin(), verdict.checks.end(), slower);
}

bool HasOpenRegression(const StoredRun& run, const StoredCell& cell, const gate::Policy& policy,
                       const std::vector<StoredRun>& earlier) {
  std::vector<gate::JudgedRun> judged =
      JudgedRuns(earlier, {cell.key, cell.config_hash, cell.host, run.branch, run.repository});
  std::erase_if(judged, [&](const gate::JudgedRun& other) { return other.run_id == run.id; });  // resumed
  judged.push_back({run.id, run.created, run.commit, cell.metrics});
  const auto open = gate::OpenRegressions(judged);
  return std::any_of(open.begin(), open.end(), [&](const gate::Regression& regression) {
    return !gate::IsAccepted(policy.acknowledgements, cell.key, regression.metric, policy.today);
  });
}

}  // namespace

StoredRun DescribeJudged(const record::RunRecord& record, const record::Verdict& verdict,
                         const std::vector<gate::CellPolicy>& policies,
                         const std::vector<StoredRun>& earlier) {
  CHECK_EQ(record.cells.size(), policies.size());
  StoredRun run = Describe(record, verdict.exit_code, MayBecomeBaseline(policies, verdict));
  for (size_t i = 0; i < run.cells.size(); ++i) {
    StoredCell& cell = run.cells[i];
    cell.metrics = gate::ComparedMetrics(verdict, cell.key);
    if (run.branch == policies[i].policy.baseline.branch)
      cell.eligible = cell.eligible && !HasOpenRegression(run, cell, policies[i].policy, earlier);
  }
  return run;
}

}  // namespace assay::runner
