#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "evals/serving/serving.h"
#include "evals/serving/token_counter.h"
#include "evals/serving/trace.h"

namespace assay::evals {

struct PlannedPrompt {
  std::vector<int32_t> ids;  // or else text
  std::string text;
  int64_t prompt_tokens = 0;  // as far as the client knows
  int64_t output_len = 0;
};

struct PlannedPrompts {
  std::vector<PlannedPrompt> prompts;
  std::string note;  // what a reader of the record must know: repeated prompts, the hash of a file
};

// The prompts of one phase ("warm_up", "measured"). A random prompt depends on seed, name, repetition, phase
// and its index alone: more prompts do not change the first ones, and no two phases share one that a prefix
// cache could keep. Conversations of a file are dealt out from its start, shuffled by seed, name and
// repetition, when measured; the warm-up has those that `num_prompts` measured ones leave, where there are
// any. `trace`, when not empty, has the lengths of random prompts that it names.
Result<PlannedPrompts> PlanPrompts(const ServingOptions& options, std::string_view phase, int64_t count,
                                   const std::vector<TraceEntry>& trace, const Encoder& encode);

// The body of a streamed request for it.
Result<std::string> RequestBody(const ServingOptions& options, const PlannedPrompt& prompt);

}  // namespace assay::evals
