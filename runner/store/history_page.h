#pragma once

#include <string>
#include <vector>

#include "gate/history.h"
#include "reports/report.h"

namespace assay::runner {

// The trends of a store as reports draw them, in the same order.
std::vector<reports::Trend> DrawnTrends(const std::vector<gate::Trend>& trends);

// One HTML file of them.
std::string HistoryPage(const std::string& title, const std::vector<gate::Trend>& trends,
                        reports::Language language);

}  // namespace assay::runner
