#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/cache/kv_blocks.h"
#include "engine/scheduler/scheduler.h"
#include "engine/scheduler/token_history.h"

namespace assay::engine {

// One request from Submit to its last token.
struct ActiveRequest {
  using Time = std::chrono::steady_clock::time_point;

  uint64_t id = 0;  // in order of arrival
  GenerationRequest request;
  Scheduler::OnToken on_token;
  std::vector<int32_t> tokens;  // prompt, then output
  int64_t computed = 0;         // positions whose keys and values are in the cache
  HeldBlocks held;
  TokenHistory history;       // empty unless there is a penalty
  int64_t cached_tokens = 0;  // of the prompt, found in the prefix cache when it first ran
  bool has_run = false;
  Time submitted, first_run, last_token;
  double prefill_seconds = 0;

  int64_t Length() const { return static_cast<int64_t>(tokens.size()); }
  int64_t Missing() const { return Length() - computed; }
  int64_t PromptTokens() const { return static_cast<int64_t>(request.prompt.size()); }
  int64_t OutputTokens() const { return Length() - PromptTokens(); }
};

}  // namespace assay::engine
