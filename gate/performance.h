#pragma once

#include <vector>

#include "gate/policy.h"
#include "record/verdict.h"

namespace assay::gate {

// How much of one benchmark may be judged.
enum class SpeedScope { kAll, kLatencyOnly, kNothing };

using Benchmarks = std::vector<const record::ServingRecord*>;

// The same benchmark of earlier runs on this machine.
struct SpeedBaseline {
  Benchmarks runs;                     // to compare with, newest first
  std::vector<Benchmarks> equal_code;  // lists of runs that differ by noise alone; they measure its floor
};

// Every metric of one benchmark against earlier runs. `why_not` says what keeps metrics outside `scope` from
// being judged. A FAIL is one at the level of a single test until the family of the run has been adjusted
// for (gate/family.h).
std::vector<record::Check> JudgePerformance(const record::CellRecord& cell,
                                            const record::ServingRecord& serving,
                                            const SpeedBaseline& baseline, const PerformancePolicy& policy,
                                            SpeedScope scope, const std::string& why_not);

}  // namespace assay::gate
