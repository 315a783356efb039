#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/scheduler/scheduler.h"
#include "engine/scheduler/token_history.h"

namespace assay::engine {

// Whether tokens that have come before change the request's logits.
bool HasPenalty(const GenerationRequest& request);

// How a model may pick the next token of `request` itself, whose output has `output_index` tokens so far.
// Nothing where its logits are changed first, by stop ids, bias or penalties, or reported.
std::optional<Pick> PickOf(const GenerationRequest& request, int64_t output_index);
// The token of such a pick; nothing of a row that is never sampled.
std::optional<int32_t> PickToken(std::span<const float> logits, const Pick& pick);

// The next token of `request`, whose output has `output_index` tokens so far; `history` counts its tokens
// when HasPenalty. `logits` [vocab_size] are changed. Nothing when a logit is NaN or +inf, or all are -inf:
// such a row says nothing and is never sampled.
//
// In vLLM's order: stop ids are masked until min_tokens is reached; logit_bias; repetition, frequency and
// presence penalty. Then greedy (temperature 0) gives the largest logit, ties to the lower id. Otherwise
// temperature, min_p (share of the largest probability), top_k, top_p over what is left; one uniform draw
// that depends on seed and output_index alone.
std::optional<int32_t> SampleToken(std::span<float> logits, const GenerationRequest& request,
                                   const TokenHistory& history, int64_t output_index);

}  // namespace assay::engine
