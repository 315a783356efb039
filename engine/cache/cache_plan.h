#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/model/config.h"

namespace assay::engine {

// What was asked for; 0 means "choose".
struct CacheWish {
  int64_t block_size = 16;
  int64_t blocks = 0;
  int64_t memory_mb = 0;
  int64_t max_model_len = 0;
  int64_t max_num_seqs = 64;
};

struct CachePlan {
  int64_t num_blocks = 0;
  int64_t max_model_len = 0;
  int64_t bytes = 0;  // of the whole cache
};

// Keys and values of one token in all layers, as the CPU model stores them.
int64_t KvBytesPerToken(const ModelConfig& config);

// How many blocks to hold and how long a request may be. A length that was asked for and does not fit is an
// error that says what would.
Result<CachePlan> PlanCache(const CacheWish& wish, const ModelConfig& config);

}  // namespace assay::engine
