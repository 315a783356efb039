#pragma once

#include <string>

#include "evals/serving/random.h"
#include "evals/serving/token_counter.h"

namespace assay::evals {

// English words, drawn at random, that are exactly `tokens` tokens as `encode` counts them.
Result<std::string> ExactText(SplitMix64& random, int64_t tokens, const Encoder& encode);

// Ordinary token ids of whatever vocabulary `encode` has: those of a text with many words.
Result<std::vector<int32_t>> OrdinaryIds(const Encoder& encode);

}  // namespace assay::evals
