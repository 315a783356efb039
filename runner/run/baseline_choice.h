#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "gate/judge.h"
#include "runner/plan/plan.h"
#include "runner/store/baseline_store.h"

namespace assay::runner {

// --baseline (`asked`): "" leaves the choice to the policy, "none" compares with nothing, a branch name or a
// record's file overrides the policy. Stored runs are those of the repository that `subject` is of.
Result<gate::Baseline> ChooseBaseline(const Cell& cell, const gate::Policy& policy, const std::string& asked,
                                      const record::RunRecord& subject, BaselineStore* store);

// Whether --baseline WHAT means a branch of the store: not none, no file, not "".
bool NamesBranch(const std::string& asked);

}  // namespace assay::runner
