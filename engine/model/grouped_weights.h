#pragma once

#include <vector>

#include "engine/model/checkpoint.h"
#include "kernels/dense_matmul/dense_matmul.h"
#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/router_logits/router_logits.h"

namespace assay::engine {

// A layer packed for the fast CPU kernels. Query, key and value are one matrix; the columns of a key-value
// head lie together: group queries, key, value, head_dim each.
struct GroupedLayer {
  bool sliding = false;
  std::vector<float> input_norm, post_attention_norm, sinks;
  kernels::DenseWeights qkv, o;
  kernels::RouterWeights router;
  kernels::ExpertWeights experts;
  float key_scale = 0, value_scale = 0;  // of an FP8 cache; 0: not rounded
};
GroupedLayer PackLayer(const ModelConfig& config, const LayerTensors& tensors, bool sliding,
                       kernels::DenseDtype dtype);

}  // namespace assay::engine
