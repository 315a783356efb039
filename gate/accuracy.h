#pragma once

#include <vector>

#include "gate/policy.h"
#include "record/verdict.h"

namespace assay::gate {

// The broken line and the threshold: what the score says without a baseline.
std::vector<record::Check> JudgeThreshold(const record::CellRecord& cell, const ThresholdPolicy& policy);

// Whether k right samples of n pass the threshold's rule.
bool ReachesThreshold(int64_t k, int64_t n, const ThresholdPolicy& policy);
double ThresholdLimit(const ThresholdPolicy& policy);

// How unlikely what is said must be by chance, one-sided: what decides, and each end of the interval shown.
struct Tails {
  double deciding = 0.05, shown = 0.025;
};

// Question by question against an earlier cell with the same questions (FindAccuracyBaseline says so).
record::Check JudgePaired(const record::CellRecord& cell, const record::CellRecord& baseline,
                          const AccuracyPolicy& policy, const Tails& tails = {});

// The same of whether an answer was cut at the token limit: one that no longer ends by itself may still
// score. Nothing where no answer of either side was cut.
std::vector<record::Check> JudgeCutAnswers(const record::CellRecord& cell, const record::CellRecord& baseline,
                                           const AccuracyPolicy& policy, const Tails& tails = {});

// The same of two scores without their questions; the weakest comparison, and all that a stated score allows.
record::Check JudgeUnpaired(const record::CellRecord& cell, const record::CellRecord& baseline,
                            const AccuracyPolicy& policy);

}  // namespace assay::gate
