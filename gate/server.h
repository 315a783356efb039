#pragma once

#include <optional>

#include "record/verdict.h"

namespace assay::gate {

// What the end of a cell's server means for its verdict; nullopt when it lived until it was stopped.
std::optional<record::Check> JudgeServer(const record::CellRecord& cell);

}  // namespace assay::gate
