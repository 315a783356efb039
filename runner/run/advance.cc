#include "runner/run/advance.h"

#include <algorithm>

#include "base/check.h"
#include "gate/acknowledge.h"
#include "gate/regression.h"
#include "runner/run/may_become_baseline.h"
#include "runner/store/regressions.h"

namespace assay::runner {
namespace {

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
