#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cache/prefix_tree.h"
#include "engine/model/model.h"

namespace assay::engine {

struct GenerationRequest {
  std::vector<int32_t> prompt;
  double temperature = 0, top_p = 1, min_p = 0;
  int64_t top_k = 0;
  uint64_t seed = 0;
  int64_t max_tokens = 16;
  int64_t min_tokens = 0;
  std::vector<int32_t> stop_ids;  // end the generation, are not part of the text (finish reason stop)
  double presence_penalty = 0, frequency_penalty = 0;  // subtracted for tokens of the output
  double repetition_penalty = 1;                       // scales logits of tokens of prompt and output
  std::vector<std::pair<int32_t, float>> logit_bias;   // added; ids beyond the vocabulary are ignored
  std::optional<int64_t> logprobs;  // how many of the likeliest tokens to report beside the chosen one
  std::string client;               // waiting requests are taken from each client in turn
  bool use_prefix_cache = true;
};

struct TokenLogprob {
  int32_t id = -1;
  float logprob = 0;
};

enum class FinishReason { kNone, kStop, kLength, kAbort, kError };

struct GeneratedToken {
  int32_t id = -1;  // -1: finished without a further token
  FinishReason finish = FinishReason::kNone;
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;  // so far, stop token included
  int64_t cached_tokens = 0;  // of the prompt, that were not computed because the prefix cache had them
  // Natural logarithms of the probabilities before penalties, bias and temperature; only when asked for.
  float logprob = 0;                       // of `id`
  std::vector<TokenLogprob> top_logprobs;  // the likeliest tokens, best first, ties to the lower id
  double queue_seconds = 0;                // from Submit until the request was first in a step
  double prefill_seconds = 0;              // from there to its first token
  double since_previous_seconds = 0;       // from its previous token to this one; 0 for the first
  std::string error;                       // why, when finish is kError
};

struct SchedulerStats {
  int64_t running = 0, waiting = 0;
  int64_t prompt_tokens = 0, generated_tokens = 0, preemptions = 0;
  int64_t free_blocks = 0, total_blocks = 0;                // of the layer group with the smallest share free
  int64_t prefix_cache_queries = 0, prefix_cache_hits = 0;  // prompt tokens looked up, and found
  int64_t steps = 0;
};

struct SchedulerOptions {
  int64_t max_num_seqs = 64;
  int64_t max_num_batched_tokens = 512;
  int64_t max_model_len = 0;       // 0: what the model and the cache allow
  int64_t block_size = 16;         // as in ModelOptions
  int64_t num_blocks = 1024;       // as in ModelOptions
  int64_t num_sliding_blocks = 0;  // as in ModelOptions
  bool enable_prefix_caching = true;
  bool enforce_eager = true;  // false pads batches to fixed sizes, as a graph-replaying engine does
  PrefixTree::Hash prefix_hash = nullptr;  // for tests: another hash of the prefix cache
};

// Continuous batching with chunked prefill over one Model, on a thread of its own. Clients take turns; within
// a client the first come is the first served (batcher.h has the rules). When KV blocks run out the newest
// request is set back and recomputed later, but for what the prefix cache still has.
//
// What a request is answered depends on the model, its prompt and its parameters alone: not on what runs
// beside it, how its prompt was cut, what was cached, or whether it was set back.
class Scheduler {
 public:
  using OnToken =
      std::function<void(const GeneratedToken&)>;  // called on the scheduler's thread; must not block

  static std::unique_ptr<Scheduler> Start(Model& model, const SchedulerOptions& options);
  virtual ~Scheduler() = default;  // what is unfinished ends with kAbort

  // Longest prompt + output. A request that cannot fit is refused by the caller before Submit.
  virtual int64_t MaxModelLen() const = 0;
  // Returns an id for Abort. `on_token` is called for each token; the call whose finish is not kNone is the
  // last.
  virtual uint64_t Submit(GenerationRequest request, OnToken on_token) = 0;
  // Ends the request with kAbort before the next step and frees its blocks; nothing when it has ended.
  virtual void Abort(uint64_t id) = 0;
  // Forgets all cached prefixes before anything else is computed; false, and nothing is forgotten, while
  // requests are unfinished.
  virtual bool ResetPrefixCache() = 0;
  virtual SchedulerStats Stats() const = 0;
  // Seconds since the last step while requests are unfinished; 0 when idle. /health judges it.
  virtual double StalledSeconds() const = 0;
};

}  // namespace assay::engine
