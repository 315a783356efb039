#pragma once

#include <vector>

#include "gate/policy.h"
#include "record/run_record.h"
#include "record/verdict.h"

namespace assay::gate {

// A note for each workaround whose condition is met, so that it can go, or whose version nobody knows. One
// that is still needed gives none.
std::vector<record::VerdictNote> JudgeWorkarounds(const record::CellRecord& cell,
                                                  const std::vector<Workaround>& workarounds);

}  // namespace assay::gate
