#pragma once

#include <vector>

#include "gate/policy.h"
#include "record/verdict.h"

namespace assay::gate {

// Whether the eval can be used at all: V6 (finished, few failures) and V9 (every sample once, so that the
// score is k/n of the stated n).
std::vector<record::Check> AccuracyValidity(const record::CellRecord& cell, const AccuracyPolicy& policy);

}  // namespace assay::gate
