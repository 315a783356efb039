#pragma once

#include "runner/config/config.h"
#include "runner/launch/server.h"
#include "runner/plan/resolve.h"

namespace assay::runner {

// The final command line and readiness rules of a config whose paths are resolved. Only {port} may be left in
// argv, for servers that do not announce their own.
LaunchPlan MakeLaunchPlan(const Config& config, const Surroundings& here);

}  // namespace assay::runner
