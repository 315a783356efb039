#pragma once

#include <string>
#include <vector>

#include "gate/ab/looks.h"
#include "gate/performance.h"
#include "gate/policy.h"
#include "record/pairs.h"
#include "record/verdict.h"

namespace assay::gate {

// Fewer log ratios have no spread worth the name.
inline constexpr int64_t kFewestPairs = 4;

// The same benchmark in both runs of a pair.
struct ServingPair {
  const record::ServingRecord* base = nullptr;
  const record::ServingRecord* head = nullptr;
};

// One benchmark of all pairs so far, and how much of it may be judged.
struct PairedBenchmark {
  std::string name;
  std::vector<ServingPair> pairs;
  SpeedScope scope = SpeedScope::kAll;
  std::string why_not;
};

// Every metric of every benchmark; the checks get the cell's key. A loss above the margin must be shown at
// this look by Holm's rule for all primary metrics together; that there is none must be shown of each, by
// itself.
std::vector<record::Check> JudgePairedSpeed(const record::CellRecord& cell,
                                            const std::vector<PairedBenchmark>& benchmarks,
                                            const PerformancePolicy& policy, const Looks& looks);

}  // namespace assay::gate
