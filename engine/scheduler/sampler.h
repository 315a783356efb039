#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/scheduler/scheduler.h"

namespace assay::engine {

// The next token of `request`, whose output has `output_index` tokens so far. `logits` [vocab_size] may be
// changed: stop ids are masked until min_tokens is reached. Nothing when a logit is NaN or +inf, or all are
// -inf: such a row says nothing and is never sampled.
//
// Greedy (temperature 0) gives the largest logit, ties to the lower id. Otherwise, in vLLM's order:
// temperature, min_p (share of the largest probability), top_k, top_p over what is left; one uniform draw
// that depends on seed and output_index alone.
std::optional<int32_t> SampleToken(std::span<float> logits, const GenerationRequest& request,
                                   int64_t output_index);

}  // namespace assay::engine
