#pragma once

#include <optional>
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

// V10: the machine ran as fast as in the baseline runs, as a fixed piece of work beside each benchmark shows.
// A pace that differs by more than `margin`, and by more than those of the baseline runs lead to expect (99 %
// prediction interval), breaks the comparison either way: a slow machine looks like a loss and a fast one
// hides it. Absent where this run did not measure its pace or `least` baseline runs did not.
std::optional<record::Check> JudgeSamePace(const record::CellRecord& cell,
                                           const record::ServingRecord& serving,
                                           const std::vector<const record::ServingRecord*>& baseline,
                                           double margin, int least);

// V11: heat or a power brake held the GPU's clocks back for at most 5 points more of the benchmark than in
// half of the baseline runs. A hot GPU looks like a slow engine. Absent where this run or all of the
// baseline's do not say.
std::optional<record::Check> JudgeGpuClocks(const record::CellRecord& cell,
                                            const record::ServingRecord& serving,
                                            const std::vector<const record::ServingRecord*>& baseline);

}  // namespace assay::gate
