#include "runner/run/report_input.h"

#include <algorithm>

#include "runner/run/ci_links.h"

namespace assay::runner {
namespace {

// The branch that every cell was compared with; "" where there is not one for all.
std::string ComparedBranch(const std::vector<gate::CellPolicy>& policies) {
  if (policies.empty()) return "";
  const std::string& branch = policies.front().policy.baseline.branch;
  const bool all = std::all_of(policies.begin(), policies.end(), [&](const gate::CellPolicy& policy) {
    return policy.policy.baseline.branch == branch &&
           policy.baseline.source.find(" of " + branch) != std::string::npos;
  });
  return all ? branch : "";
}

}  // namespace

reports::ReportInput MakeReportInput(const record::RunRecord& record, const record::Verdict& verdict,
                                     const std::vector<gate::CellPolicy>& policies, const Path& folder) {
  reports::ReportInput input{record, verdict};
  for (const gate::CellPolicy& policy : policies) {
    std::vector<const record::CellRecord*>& cells = input.baseline[policy.cell_key];
    for (const record::CellRecord& cell : policy.baseline.cells) cells.push_back(&cell);
  }
  if (const std::string branch = ComparedBranch(policies); !branch.empty()) input.base_name = branch;
  if (IsPullRequest()) input.head_name = "PR";
  input.links = DetectLinks(folder);
  return input;
}

}  // namespace assay::runner
