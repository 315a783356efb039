#pragma once

#include <vector>

#include "gate/judge.h"

namespace assay::gate {

struct CellVerdict {
  std::vector<record::Check> checks;
  std::vector<record::VerdictNote> notes;
  std::vector<record::FingerprintDifference> environment;  // against the baseline that was used
  bool missing_baseline = false;
};

// Server failure, validity, accuracy, performance: each only when what comes before allows it.
CellVerdict JudgeCell(const record::CellRecord& cell, const CellPolicy& policy);

}  // namespace assay::gate
