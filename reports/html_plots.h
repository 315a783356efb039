#pragma once

#include <string>

#include "reports/page.h"

namespace assay::reports {

// Per cell, for HTML: which questions flipped, the score of each domain, latency distributions and the token
// rate over time, both arms where an earlier cell is at hand. Cells that do not pass come first; where there
// are many, the rest go without.
std::string PlotSection(const Page& page);

}  // namespace assay::reports
