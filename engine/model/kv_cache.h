#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/cache/cache_groups.h"
#include "engine/model/model.h"
#include "kernels/attention/attention.h"
#include "kernels/memory/aligned.h"

namespace assay::engine {

// Keys and values of all layers: for each group [layer][block][key, value][kv head], a block as
// kernels/attention/attention.h has it. A block id means the same block in every layer of its group. Memory
// is taken when a block is first written, and a block of a layer lies together so that few blocks take
// little.
class KvCache {
 public:
  KvCache(const ModelConfig& config, const ModelOptions& options)
      : kv_heads_(config.num_key_value_heads), head_dim_(config.head_dim), block_size_(options.block_size) {
    blocks_[kFullLayers] = options.num_blocks;
    blocks_[kSlidingLayers] =
        options.num_sliding_blocks > 0 ? options.num_sliding_blocks : options.num_blocks;
    std::array<int64_t, kLayerGroups> layers{};
    for (const bool sliding : config.sliding) {
      const LayerGroup group = sliding ? kSlidingLayers : kFullLayers;
      places_.push_back({group, layers[group]++});
    }
    for (const LayerGroup group : {kFullLayers, kSlidingLayers}) {
      memory_[group] = kernels::Aligned<float>(layers[group] * blocks_[group] * BlockStride());
    }
  }

  kernels::PagedHead Head(int64_t layer, int64_t kv_head) {
    const auto [group, index] = places_[static_cast<size_t>(layer)];
    const int64_t head_size = block_size_ * head_dim_;
    float* keys = memory_[group].data() + index * blocks_[group] * BlockStride() + kv_head * head_size;
    return {keys, keys + kv_heads_ * head_size, BlockStride(), block_size_, head_dim_};
  }

 private:
  struct Place {
    LayerGroup group;
    int64_t index;  // among the layers of its group
  };
  int64_t BlockStride() const { return 2 * kv_heads_ * block_size_ * head_dim_; }

  int64_t kv_heads_, head_dim_, block_size_;
  std::array<int64_t, kLayerGroups> blocks_{};
  std::vector<Place> places_;  // [layers]
  std::array<kernels::Aligned<float>, kLayerGroups> memory_;
};

}  // namespace assay::engine
