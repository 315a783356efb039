#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/page.h"

namespace assay::reports {

// The figure of one trend: its points in order, lines where it changed and where nothing is compared across.
std::string TrendFigure(const Page& page, const Trend& trend);

// The figures of a cell's trends, "" for none.
std::string TrendFigures(const Page& page, const std::string& cell);

}  // namespace assay::reports
