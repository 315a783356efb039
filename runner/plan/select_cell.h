#pragma once

#include <string>
#include <vector>

#include "runner/plan/plan.h"

namespace assay::runner {

// The cell with this key and no other; kUsage with the nearest key and all there are when none has it.
Result<std::vector<Cell>> SelectCell(std::vector<Cell> cells, const std::string& key);

}  // namespace assay::runner
