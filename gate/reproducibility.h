#pragma once

#include <optional>

#include "record/verdict.h"

namespace assay::gate {

// Whether seeded requests got the same text alone and beside others. Nothing where it was not asked.
std::optional<record::Check> JudgeReproducibility(const record::CellRecord& cell);

}  // namespace assay::gate
