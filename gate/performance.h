#pragma once

#include <vector>

#include "gate/policy.h"
#include "record/verdict.h"

namespace assay::gate {

// How much of one benchmark may be judged.
enum class SpeedScope { kAll, kLatencyOnly, kNothing };

// Every metric of one benchmark against the same benchmark of earlier runs on this machine. `why_not` says
// what keeps metrics outside `scope` from being judged.
std::vector<record::Check> JudgePerformance(const record::CellRecord& cell,
                                            const record::ServingRecord& serving,
                                            const std::vector<const record::ServingRecord*>& baseline,
                                            const PerformancePolicy& policy, SpeedScope scope,
                                            const std::string& why_not);

}  // namespace assay::gate
