#pragma once

#include <optional>

#include "gate/policy.h"
#include "record/verdict.h"

namespace assay::gate {

// Whether seeded requests got the same text alone and beside others. Nothing where it was not asked.
std::optional<record::Check> JudgeReproducibility(const record::CellRecord& cell);

// How many answers of the accuracy eval are another text than the baseline's, by their hashes. A fault of the
// arithmetic changes most texts long before it costs a score that can be told from chance. It decides where
// policy.same_answers says so, both sides ran on the same kind of device and both have hashes of every
// answer; else it is an observation. Nothing where no answer of both sides has a hash, or where answers are
// drawn (temperature above 0), unless the policy asks for it.
std::optional<record::Check> JudgeSameAnswers(const record::CellRecord& cell,
                                              const record::CellRecord& baseline,
                                              const AccuracyPolicy& policy);

}  // namespace assay::gate
