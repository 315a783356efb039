#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "gate/judge.h"
#include "runner/plan/plan.h"
#include "runner/store/baseline_store.h"

namespace assay::runner {

// --baseline: "" leaves the choice to the config's policy, "none" compares with nothing, a branch name or a
// record's file overrides the policy. Stored runs are those of the same repository.
Result<gate::Baseline> ChooseBaseline(const Cell& cell, const std::string& asked,
                                      const std::string& repository, BaselineStore* store);

}  // namespace assay::runner
