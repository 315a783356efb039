#pragma once

#include <vector>

#include "record/verdict.h"

namespace assay::gate {

// What a broken serving measurement still allows to be judged.
struct ServingValidity {
  std::vector<record::Check> checks;
  bool usable = true;      // requests finished and were counted right
  bool throughput = true;  // and the answers had the length asked for: tok/s means the same on both sides
};

// V1, V2, V4, V5, V6, V7 of one benchmark by itself; docs/statistics.md lists them.
ServingValidity JudgeServingValidity(const record::CellRecord& cell, const record::ServingRecord& serving);

// V3 and the two-sided half of V4: the same load on both sides. `baseline` must not be empty.
ServingValidity JudgeSameLoad(const record::CellRecord& cell, const record::ServingRecord& serving,
                              const std::vector<const record::ServingRecord*>& baseline);

}  // namespace assay::gate
