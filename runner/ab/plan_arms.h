#pragma once

#include <optional>
#include <string>

#include "runner/ab/ab.h"
#include "runner/plan/plan.h"

namespace assay::runner {

// One arm, settled before anything is built or launched.
struct ArmPlan {
  record::Arm arm;
  Cell cell;                       // for a git ref with the program where the build will have it
  std::string url;                 // "" when assay launches the server
  std::optional<BuildPlan> build;  // of a git ref
};

struct ArmPlans {
  ArmPlan base, head;
  gate::Policy policy;  // the config's (head's, where each has its own) with what the flags say
};

// `work` is where git refs will be checked out. Every mistake is a kUsage.
Result<ArmPlans> PlanArms(const AbOptions& options, const Path& work);

}  // namespace assay::runner
