#pragma once

#include <string>

#include "reports/report.h"

namespace assay::reports {

// One test case a check, as Buildkite, GitLab and Jenkins read them: FAIL is a failure, INVALID and
// INFRASTRUCTURE are errors, what could not be decided is skipped. Names hold no values, so that a check's
// history is one line.
std::string RenderJunit(const ReportInput& input);

}  // namespace assay::reports
