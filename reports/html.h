#pragma once

#include <string>

#include "reports/report.h"

namespace assay::reports {

// One file with plots of both arms. It needs neither a network nor JavaScript, follows the reader's light or
// dark setting and is readable at the width of a phone.
std::string RenderHtml(const ReportInput& input);

}  // namespace assay::reports
