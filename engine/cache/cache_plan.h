#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/cache/cache_groups.h"
#include "engine/model/config.h"

namespace assay::engine {

// What was asked for; 0 means "choose".
struct CacheWish {
  int64_t block_size = 16;
  int64_t blocks = 0;
  int64_t memory_mb = 0;
  int64_t max_model_len = 0;
  int64_t max_num_seqs = 64;
  int64_t max_num_batched_tokens = 512;
  bool prefix_caching = true;
  int64_t element_bytes = 4;  // of a number of the cache: KvElementBytes(config, device)
};

struct CachePlan {
  int64_t num_blocks = 0;          // of the layers that see everything
  int64_t num_sliding_blocks = 0;  // of those that see a window
  int64_t max_model_len = 0;
  int64_t bytes = 0;  // of the whole cache
};

// Keys and values of one token in all layers of a group.
int64_t KvBytesPerToken(LayerGroup group, const ModelConfig& config, int64_t element_bytes);

// How many blocks to hold and how long a request may be. Layers that see everything need blocks for all
// tokens of a request; sliding layers for the window and what a step adds, so their blocks are bounded by the
// seats and the tokens of a step, twice that with a prefix cache, and what is left of the memory goes to the
// others. A length that was asked for and does not fit is an error that says what would.
Result<CachePlan> PlanCache(const CacheWish& wish, const ModelConfig& config);

}  // namespace assay::engine
