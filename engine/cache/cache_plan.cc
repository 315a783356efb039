#include "engine/cache/cache_plan.h"

#include <algorithm>

#include "engine/cache/block_pool.h"

namespace assay::engine {
namespace {

constexpr int64_t kMegabyte = 1 << 20;
constexpr int64_t kDefaultMemoryMb = 1024;

int64_t Megabytes(int64_t bytes) {
  return BlocksFor(bytes, kMegabyte);
}

// Sizes that a wish has for a model.
struct Sizes {
  int64_t full_bytes, sliding_bytes;  // of one block; 0: there are no such layers
  int64_t most_sliding;               // blocks that are of use
  int64_t window_blocks;              // that one request needs, however long it is

  Sizes(const CacheWish& wish, const ModelConfig& config, int64_t longest_blocks)
      : full_bytes(KvBytesPerToken(kFullLayers, config, wish.element_bytes) * wish.block_size),
        sliding_bytes(KvBytesPerToken(kSlidingLayers, config, wish.element_bytes) * wish.block_size),
        window_blocks(BlocksFor(config.sliding_window - 1, wish.block_size) + 1) {
    // So many positions in a row touch at most one block more than they fill.
    const int64_t seat = std::min(BlocksFor(config.sliding_window, wish.block_size) + 2, longest_blocks);
    const int64_t step = BlocksFor(wish.max_num_batched_tokens, wish.block_size);
    most_sliding = (wish.prefix_caching ? 2 : 1) * (seat * wish.max_num_seqs + step);
  }

  int64_t Sliding(int64_t full) const { return std::min(full, most_sliding); }
  int64_t Bytes(int64_t full) const { return full * full_bytes + Sliding(full) * sliding_bytes; }
  // Full blocks that fit beside their sliding ones.
  int64_t FullIn(int64_t memory) const {
    const int64_t even = memory / (full_bytes + sliding_bytes);
    if (even <= most_sliding || full_bytes == 0) return even;
    return (memory - most_sliding * sliding_bytes) / full_bytes;
  }
  // The blocks that a request of so many blocks needs for itself.
  int64_t FullFor(int64_t blocks) const { return full_bytes > 0 ? blocks : std::min(blocks, window_blocks); }
  std::string Explain(int64_t block_size) const {
    return fmt::format(
        "a block of {} tokens takes {} bytes in the layers that see everything and {} in those "
        "that see a window",
        block_size, full_bytes, sliding_bytes);
  }
};

}  // namespace

int64_t KvBytesPerToken(LayerGroup group, const ModelConfig& config, int64_t element_bytes) {
  constexpr int64_t kKeyAndValue = 2;
  return kKeyAndValue * LayersOf(group, config) * config.num_key_value_heads * config.head_dim *
         element_bytes;
}

Result<CachePlan> PlanCache(const CacheWish& wish, const ModelConfig& config) {
  const int64_t longest = config.max_position_embeddings;
  if (wish.max_model_len > longest) {
    return Fail(ErrorKind::kUsage, "bad flag: --max-model-len {}: the model reaches {} positions",
                wish.max_model_len, longest);
  }
  const int64_t asked = wish.max_model_len > 0 ? wish.max_model_len : longest;
  const int64_t asked_blocks = BlocksFor(asked, wish.block_size);
  const Sizes sizes(wish, config, asked_blocks);
  const int64_t memory = (wish.memory_mb > 0 ? wish.memory_mb : kDefaultMemoryMb) * kMegabyte;
  // No more than all seats can fill, each with the longest request.
  int64_t blocks =
      wish.blocks > 0 ? wish.blocks : std::min(sizes.FullIn(memory), asked_blocks * wish.max_num_seqs);
  if (sizes.full_bytes == 0) blocks = sizes.Sliding(blocks);
  if (blocks < 1) {
    return Fail(ErrorKind::kUsage, "bad flag: --kv-cache-memory-mb {}: {}, {} MB together", wish.memory_mb,
                sizes.Explain(wish.block_size), Megabytes(sizes.full_bytes + sizes.sliding_bytes));
  }
  const int64_t needed = sizes.FullFor(asked_blocks);
  const bool unlimited = sizes.full_bytes == 0 && blocks >= sizes.window_blocks;
  const int64_t fits = unlimited ? longest : std::min(longest, blocks * wish.block_size);
  if (wish.max_model_len > 0 && needed > blocks) {
    return Fail(
        ErrorKind::kUsage,
        "bad flag: --max-model-len {}: needs {} KV blocks ({} MB) and the cache has {} ({} MB), which "
        "hold {} tokens: {}; raise --kv-cache-memory-mb or --kv-cache-blocks",
        wish.max_model_len, needed, Megabytes(sizes.Bytes(needed)), blocks, Megabytes(sizes.Bytes(blocks)),
        fits, sizes.Explain(wish.block_size));
  }
  CachePlan plan;
  plan.num_blocks = blocks;
  plan.num_sliding_blocks = sizes.sliding_bytes > 0 ? sizes.Sliding(blocks) : blocks;
  plan.max_model_len = std::min(asked, fits);
  plan.bytes = sizes.Bytes(blocks);
  return plan;
}

}  // namespace assay::engine
