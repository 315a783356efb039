#pragma once

#include <string>
#include <vector>

#include "reports/report.h"

namespace assay::reports {

// A page of trends: a section a cell, a plot a metric and machine, the same trends as tables below. `title`
// is plain text.
std::string RenderHistoryHtml(const std::string& title, const std::vector<Trend>& trends, Language language);

}  // namespace assay::reports
