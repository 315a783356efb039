#pragma once

#include <string>

#include "reports/report.h"

namespace assay::reports {

// The verdict, with what the run was but without its samples and requests: those stay in record.json.
std::string RenderJson(const ReportInput& input);

}  // namespace assay::reports
