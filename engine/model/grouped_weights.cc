#include "engine/model/grouped_weights.h"

#include <algorithm>

#include "base/planted_fault.h"
#include "engine/model/layer_experts.h"

namespace assay::engine {
namespace {

using Bf16Vector = std::vector<kernels::Bf16>;

// Rows [first, first + count) of a linear layer, added to what is there.
void AppendRows(const LinearTensors& from, int64_t first, int64_t count, int64_t k, Bf16Vector& weight,
                std::vector<float>& bias) {
  const auto rows = from.weight.subspan(static_cast<size_t>(first * k), static_cast<size_t>(count * k));
  weight.insert(weight.end(), rows.begin(), rows.end());
  for (int64_t row = first; row < first + count; ++row) {
    bias.push_back(kernels::FromBf16(from.bias[static_cast<size_t>(row)]));
  }
}

kernels::DenseWeights PackQkv(const ModelConfig& c, const LayerTensors& tensors, kernels::DenseDtype dtype) {
  const int64_t group = c.num_attention_heads / c.num_key_value_heads, dim = c.head_dim;
  Bf16Vector weight;
  std::vector<float> bias;
  for (int64_t head = 0; head < c.num_key_value_heads; ++head) {
    AppendRows(tensors.q, head * group * dim, group * dim, c.hidden_size, weight, bias);
    AppendRows(tensors.k, head * dim, dim, c.hidden_size, weight, bias);
    AppendRows(tensors.v, head * dim, dim, c.hidden_size, weight, bias);
  }
  return kernels::PackDense(weight, bias, static_cast<int64_t>(bias.size()), c.hidden_size, dtype);
}

}  // namespace

GroupedLayer PackLayer(const ModelConfig& c, const LayerTensors& tensors, bool sliding,
                       kernels::DenseDtype dtype) {
  GroupedLayer layer;
  layer.sliding = sliding;
  layer.input_norm = Widen(tensors.input_norm);
  layer.post_attention_norm = Widen(tensors.post_attention_norm);
  layer.sinks = Widen(tensors.sinks);
  if (Planted(Fault::kDroppedSinks)) std::fill(layer.sinks.begin(), layer.sinks.end(), -1e30f);
  layer.qkv = PackQkv(c, tensors, dtype);
  layer.o = kernels::PackDense(tensors.o.weight, Widen(tensors.o.bias), c.hidden_size,
                               c.num_attention_heads * c.head_dim, dtype);
  layer.router = kernels::PackRouter(Widen(tensors.router.weight), Widen(tensors.router.bias),
                                     c.num_local_experts, c.hidden_size);
  layer.key_scale = tensors.key_scale;
  layer.value_scale = tensors.value_scale;
  layer.experts = kernels::PackExperts(LayerExperts(c, tensors).tensors());
  return layer;
}

}  // namespace assay::engine
