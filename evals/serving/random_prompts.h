#pragma once

#include "evals/serving/prompts.h"

namespace assay::evals {

// Datasets random and prefix_repetition: uniform draws from the ordinary ids of the vocabulary, or words,
// behind prefixes that prompts share.
Result<PlannedPrompts> RandomPrompts(const ServingOptions& options, std::string_view phase, int64_t count,
                                     const std::vector<TraceEntry>& trace, const Encoder& encode);

}  // namespace assay::evals
