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

// So many of a branch's newest runs are searched for runs of equal code, which measure the noise floor.
inline constexpr int kRunsForNoise = 30;

// What the noise floor is measured from: the speeds of a run, without each request behind them.
gate::DatedCell SpeedsOf(const std::string& commit, const std::string& created,
                         const record::CellRecord& cell);

// Whether --baseline WHAT means a branch of the store: not none, no file, not "".
bool NamesBranch(const std::string& asked);

}  // namespace assay::runner
