#pragma once

#include <vector>

#include "engine/model/checkpoint.h"
#include "kernels/dense_matmul/dense_matmul.h"
#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/router_logits/router_logits.h"

namespace assay::engine {

// A layer packed for the fast CPU kernels. Query, key and value rows are one matrix for each key-value head,
// so that a thread makes and uses all of a head without waiting for others.
struct GroupedLayer {
  bool sliding = false;
  std::vector<float> input_norm, post_attention_norm, sinks;
  std::vector<kernels::DenseWeights> qkv;  // [kv heads], columns: group queries, key, value, head_dim each
  kernels::DenseWeights o;
  kernels::RouterWeights router;
  kernels::ExpertWeights experts;
};
GroupedLayer PackLayer(const ModelConfig& config, const LayerTensors& tensors, bool sliding);

}  // namespace assay::engine
