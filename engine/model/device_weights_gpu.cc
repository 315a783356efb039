#include <algorithm>

#include "engine/model/device_weights.h"
#include "engine/model/layer_experts.h"

namespace assay::engine {
namespace {

using kernels::Bf16;
using kernels::gpu::Stream;
using kernels::gpu::ToDevice;

constexpr const char* kWeights = "memory for weights";

// The rank's columns of [experts, k, columns] as [experts, columns, k].
std::vector<Bf16> Transposed(const Bf16* from, int64_t experts, int64_t k, int64_t columns,
                             const Shard& shard) {
  const int64_t own = shard.Part(columns), begin = shard.Begin(columns);
  std::vector<Bf16> to(static_cast<size_t>(experts * k * own));
  for (int64_t e = 0; e < experts; ++e, from += k * columns) {
    Bf16* expert = to.data() + e * k * own;
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t n = 0; n < own; ++n) expert[n * k + i] = from[i * columns + begin + n];
    }
  }
  return to;
}

struct HostExperts {
  const uint8_t *blocks, *scales;
  const Bf16* bf16;
  std::span<const float> bias;
  int64_t columns, k;
  float input_scale;
};

// The rank's columns of every expert: of [experts, columns, bytes of a column].
template <class T>
DeviceBuffer<T> Upload(const Stream& stream, const T* from, int64_t experts, int64_t columns,
                       int64_t a_column, const Shard& shard) {
  DeviceBuffer<T> to(experts * shard.Part(columns) * a_column, kWeights);
  const auto width = static_cast<size_t>(shard.Part(columns) * a_column) * sizeof(T);
  stream.CopyRowsToDevice(to.data(), width, from + shard.Begin(columns) * a_column,
                          static_cast<size_t>(columns * a_column) * sizeof(T), width,
                          static_cast<size_t>(experts));
  stream.Wait(kWeights);  // what it is from may go away
  return to;
}

DeviceExperts Upload(const Stream& stream, const HostExperts& from, int64_t experts, const Shard& shard) {
  DeviceExperts to;
  int largest_scale = 0;
  if (from.bf16 != nullptr) {
    to.bf16 = ToDevice(stream, Transposed(from.bf16, experts, from.k, from.columns, shard), kWeights);
  } else {
    const int64_t blocks = from.k / kernels::kMxBlock;
    to.blocks = Upload(stream, from.blocks, experts, from.columns, blocks * kernels::kMxBlockBytes, shard);
    to.scales = Upload(stream, from.scales, experts, from.columns, blocks, shard);
    const std::span scales(from.scales, static_cast<size_t>(experts * from.columns * blocks));
    largest_scale = *std::max_element(scales.begin(), scales.end());
  }
  to.bias = Upload(stream, from.bias.data(), experts, from.columns, 1, shard);
  to.matrix = {to.blocks.data(),
               to.scales.data(),
               to.bf16.data(),
               to.bias.data(),
               shard.Part(from.columns),
               from.k,
               from.input_scale > 0 ? from.input_scale : 1,
               largest_scale,
               from.input_scale > 0};
  return to;
}

}  // namespace

int64_t DeviceLayer::DenseBytes() const {
  return static_cast<int64_t>(qkv.weight.bytes() + o.weight.bytes() + router.bytes());
}

int64_t DeviceLayer::BytesOfOneExpert(int64_t experts) const {
  size_t bytes = 0;
  for (const DeviceExperts* matrix : {&gate_up, &down})
    bytes += matrix->blocks.bytes() + matrix->scales.bytes() + matrix->bf16.bytes();
  return static_cast<int64_t>(bytes) / experts;
}

DeviceLinear UploadLinear(const Stream& stream, std::initializer_list<const LinearTensors*> parts, int64_t k,
                          const Shard& shard) {
  std::vector<Bf16> weight, bias_bf16;
  std::vector<float> bias;
  DeviceLinear linear;
  for (const LinearTensors* part : parts) {
    const auto columns = static_cast<int64_t>(part->weight.size()) / k;
    const auto begin = static_cast<size_t>(shard.Begin(columns)),
               size = static_cast<size_t>(shard.Part(columns));
    const Bf16Span rows = part->weight.subspan(begin * static_cast<size_t>(k), size * static_cast<size_t>(k));
    weight.insert(weight.end(), rows.begin(), rows.end());
    linear.columns += shard.Part(columns);
    if (part->bias.empty()) continue;
    const Bf16Span own = part->bias.subspan(begin, size);
    const std::vector<float> wide = Widen(own);
    bias.insert(bias.end(), wide.begin(), wide.end());
    bias_bf16.insert(bias_bf16.end(), own.begin(), own.end());
  }
  linear.k = k;
  linear.weight = ToDevice(stream, weight, kWeights);
  linear.bias = ToDevice(stream, bias, kWeights);
  linear.bias_bf16 = ToDevice(stream, bias_bf16, kWeights);
  return linear;
}

DeviceBuffer<Bf16> UploadColumns(const Stream& stream, Bf16Span table, int64_t columns, const Shard& shard) {
  return Upload(stream, table.data(), static_cast<int64_t>(table.size()) / columns, columns, 1, shard);
}

DeviceLayer UploadLayer(const Stream& stream, const ModelConfig& c, const LayerTensors& tensors, bool sliding,
                        const Shard& shard) {
  DeviceLayer layer;
  layer.sliding = sliding;
  layer.input_norm = ToDevice(stream, Widen(tensors.input_norm), kWeights);
  layer.post_attention_norm = ToDevice(stream, Widen(tensors.post_attention_norm), kWeights);
  const auto heads = static_cast<size_t>(shard.Part(c.num_attention_heads));
  layer.sinks = ToDevice(stream, Widen(tensors.sinks.subspan(static_cast<size_t>(shard.rank) * heads, heads)),
                         kWeights);
  layer.qkv = UploadLinear(stream, {&tensors.q, &tensors.k, &tensors.v}, c.hidden_size, shard);
  layer.o = UploadLinear(stream, {&tensors.o}, c.num_attention_heads * c.head_dim, shard);
  layer.router = ToDevice(stream, Widen(tensors.router.weight), kWeights);
  layer.router_bias = ToDevice(stream, Widen(tensors.router.bias), kWeights);
  if (c.quantization.fp8_kv_cache) {
    layer.key_scale = tensors.key_scale;
    layer.value_scale = tensors.value_scale;
  }

  const LayerExperts host(c, tensors);
  const kernels::ExpertTensors& experts = host.tensors();
  layer.fp8_activations = experts.gate_up_input_scale > 0;
  layer.gate_up =
      Upload(stream,
             {experts.gate_up_blocks, experts.gate_up_scales, experts.gate_up_bf16, experts.gate_up_bias,
              2 * experts.intermediate, experts.hidden, experts.gate_up_input_scale},
             experts.experts, shard);
  layer.down = Upload(stream,
                      {experts.down_blocks, experts.down_scales, experts.down_bf16, experts.down_bias,
                       experts.hidden, experts.intermediate, experts.down_input_scale},
                      experts.experts, shard);
  return layer;
}

}  // namespace assay::engine
