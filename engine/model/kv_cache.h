#pragma once

#include <cstdint>

#include "engine/model/config.h"
#include "kernels/attention/attention.h"
#include "kernels/memory/aligned.h"

namespace assay::engine {

// Keys and values of all layers: [layer][kv head][block], a block as kernels/attention/attention.h has it. A
// block id means the same block in every layer.
class KvCache {
 public:
  KvCache(const ModelConfig& config, int64_t num_blocks, int64_t block_size)
      : kv_heads_(config.num_key_value_heads),
        head_dim_(config.head_dim),
        block_size_(block_size),
        head_stride_(num_blocks * block_size * config.head_dim),
        keys_(config.num_hidden_layers * kv_heads_ * head_stride_),
        values_(config.num_hidden_layers * kv_heads_ * head_stride_) {}

  kernels::PagedHead Head(int64_t layer, int64_t kv_head) {
    const int64_t offset = (layer * kv_heads_ + kv_head) * head_stride_;
    return {keys_.data() + offset, values_.data() + offset, block_size_ * head_dim_, block_size_, head_dim_};
  }

 private:
  int64_t kv_heads_, head_dim_, block_size_, head_stride_;
  kernels::Aligned<float> keys_, values_;
};

}  // namespace assay::engine
