#pragma once

#include <cstdint>
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

// The scheduler's request for a prompt, defaults filled in; `seed` is used when the client gave none. The
// error is for the client (400). An over-long request is refused, never cut.
Result<GenerationRequest> MakeGenerationRequest(std::vector<int32_t> prompt, const wire::Sampling& sampling,
                                                const RequestRules& rules, uint64_t seed);

// Refuses a text that cannot fit whatever it holds, before the time for splitting it into tokens is spent.
Status CheckTextLength(size_t bytes, const RequestRules& rules);

}  // namespace assay::engine
