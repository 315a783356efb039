#include "engine/cache/cache_plan.h"

#include <algorithm>

#include "engine/cache/block_pool.h"

namespace assay::engine {
namespace {

constexpr int64_t kMegabyte = 1 << 20;
constexpr int64_t kDefaultMemoryMb = 1024;

}  // namespace

int64_t KvBytesPerToken(const ModelConfig& config) {
  constexpr int64_t kKeyAndValue = 2;
  return kKeyAndValue * config.num_hidden_layers * config.num_key_value_heads * config.head_dim *
         static_cast<int64_t>(sizeof(float));
}

Result<CachePlan> PlanCache(const CacheWish& wish, const ModelConfig& config) {
  const int64_t longest = config.max_position_embeddings;
  if (wish.max_model_len > longest) {
    return Fail(ErrorKind::kUsage, "bad flag: --max-model-len {}: the model reaches {} positions",
                wish.max_model_len, longest);
  }
  const int64_t block_bytes = KvBytesPerToken(config) * wish.block_size;
  const int64_t needed = BlocksFor(wish.max_model_len > 0 ? wish.max_model_len : longest, wish.block_size);
  CachePlan plan;
  if (wish.blocks > 0) {
    plan.num_blocks = wish.blocks;
  } else {
    // No more than all seats can fill, each with the longest request.
    const int64_t memory = (wish.memory_mb > 0 ? wish.memory_mb : kDefaultMemoryMb) * kMegabyte;
    plan.num_blocks = std::min(memory / block_bytes, needed * wish.max_num_seqs);
  }
  if (plan.num_blocks < 1) {
    return Fail(ErrorKind::kUsage, "bad flag: --kv-cache-memory-mb {}: one block of {} tokens takes {} bytes",
                wish.memory_mb, wish.block_size, block_bytes);
  }
  if (wish.max_model_len > 0 && needed > plan.num_blocks) {
    return Fail(ErrorKind::kUsage,
                "bad flag: --max-model-len {}: needs {} KV blocks ({} MB) and the cache has {}; raise "
                "--kv-cache-memory-mb or --kv-cache-blocks",
                wish.max_model_len, needed, needed * block_bytes / kMegabyte + 1, plan.num_blocks);
  }
  plan.max_model_len =
      wish.max_model_len > 0 ? wish.max_model_len : std::min(longest, plan.num_blocks * wish.block_size);
  plan.bytes = plan.num_blocks * block_bytes;
  return plan;
}

}  // namespace assay::engine
