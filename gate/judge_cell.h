#pragma once

#include <string_view>
#include <vector>

#include "gate/judge.h"

namespace assay::gate {

struct CellVerdict {
  std::vector<record::Check> checks;
  std::vector<record::VerdictNote> notes;
  std::vector<record::FingerprintDifference> environment;  // against the baseline that was used
  bool missing_baseline = false;
};

// Server failure, validity, accuracy, performance: each only when what comes before allows it. `now` is when
// the run was made (UTC): by it stored runs grow too old.
CellVerdict JudgeCell(const record::CellRecord& cell, const CellPolicy& policy, std::string_view now);

}  // namespace assay::gate
