#pragma once

#include <string>

#include "reports/report.h"

namespace assay::reports {

// Workflow commands that GitHub shows beside the config files: ::error for what failed or was invalid,
// ::warning for what could not be decided. GitHub shows ten of each a step, so the tenth says how many more.
std::string RenderGithubAnnotations(const ReportInput& input);

}  // namespace assay::reports
