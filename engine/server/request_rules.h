#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/model/config.h"
#include "engine/scheduler/scheduler.h"
#include "wire/chat.h"

namespace assay::engine {

// What a request is held against.
struct RequestRules {
  GenerationConfig defaults;  // of the model; eos_token_ids end an answer
  int64_t vocab_size = 0;
  int64_t max_model_len = 0;
};

// The scheduler's request for a prompt, defaults filled in. The error is for the client (400). An over-long
// request is refused, never cut.
Result<GenerationRequest> MakeGenerationRequest(std::vector<int32_t> prompt, const wire::Sampling& sampling,
                                                const RequestRules& rules, uint64_t seed);

// The seed of one of several choices; of the first it is the request's, so that it answers as it would alone.
uint64_t ChoiceSeed(uint64_t seed, size_t index);

// What stopped an answer at `id`, as vLLM tells it: nothing for the model's end token, else the id.
nlohmann::json StopReason(int32_t id, const wire::Sampling& sampling, const RequestRules& rules);

// Refuses ids that no token has.
Status CheckIds(const char* field, const std::vector<int32_t>& ids, int64_t vocab_size);

// Refuses a text that cannot fit whatever it holds, before the time for splitting it into tokens is spent.
Status CheckTextLength(size_t bytes, const RequestRules& rules);

}  // namespace assay::engine
