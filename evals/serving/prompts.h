#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "evals/serving/serving.h"

namespace assay::evals {

// The request bodies of one phase ("warm_up", "measured"). Prompts are uniform draws from the vocabulary less
// the special ids, exactly input_len long. A prompt depends on seed, name, repetition, phase and its index
// alone: more prompts do not change the first ones, and no two phases share one that a prefix cache could
// keep.
Result<std::vector<std::string>> CompletionBodies(const ServingOptions& options, std::string_view phase,
                                                  int64_t count);

}  // namespace assay::evals
