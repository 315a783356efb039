#pragma once

#include <cstdint>
#include <span>

#include "engine/scheduler/scheduler.h"

namespace assay::engine {

// Fills token.logprob, of token.id, and the `count` likeliest tokens: log(e^logit / sum of e^logits), summed
// in one fixed order. `logits` [vocab_size] as the model gave them, numbers or -inf and not all -inf.
void AddLogprobs(std::span<const float> logits, int64_t count, GeneratedToken& token);

}  // namespace assay::engine
