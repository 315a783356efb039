#pragma once

#include <optional>

#include "gate/judge.h"
#include "record/run_record.h"

namespace assay::runner {

// The smallest loss of score that the gate notices four times in five: answers are lost one after the other
// until its own verdict on such a run is red, and the loss sought is the one under which a run loses at least
// so many with a probability of 0.8 (each answer on its own). Nothing when even losing all answers passes.
std::optional<double> SmallestLossNoticed(const record::RunRecord& clean, const gate::CellPolicy& policy);

}  // namespace assay::runner
