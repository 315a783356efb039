#include <algorithm>

#include "engine/model/device_weights.h"
#include "engine/model/layer_experts.h"

namespace assay::engine {
namespace {

using kernels::Bf16;
using kernels::gpu::Stream;
using kernels::gpu::ToDevice;

constexpr const char* kWeights = "memory for weights";

// Several linear layers of the same input as one.
DeviceLinear Upload(const Stream& stream, std::initializer_list<const LinearTensors*> parts, int64_t k) {
  std::vector<Bf16> weight, bias_bf16;
  std::vector<float> bias;
  for (const LinearTensors* part : parts) {
    weight.insert(weight.end(), part->weight.begin(), part->weight.end());
    const std::vector<float> one = Widen(part->bias);
    bias.insert(bias.end(), one.begin(), one.end());
    bias_bf16.insert(bias_bf16.end(), part->bias.begin(), part->bias.end());
  }
  DeviceLinear linear;
  linear.columns = static_cast<int64_t>(bias.size());
  linear.k = k;
  linear.weight = ToDevice(stream, weight, kWeights);
  linear.bias = ToDevice(stream, bias, kWeights);
  linear.bias_bf16 = ToDevice(stream, bias_bf16, kWeights);
  return linear;
}

// [experts, k, columns] to [experts, columns, k].
std::vector<Bf16> Transposed(const Bf16* from, int64_t experts, int64_t k, int64_t columns) {
  std::vector<Bf16> to(static_cast<size_t>(experts * k * columns));
  for (int64_t e = 0; e < experts; ++e, from += k * columns) {
    Bf16* expert = to.data() + e * k * columns;
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t n = 0; n < columns; ++n) expert[n * k + i] = from[i * columns + n];
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

DeviceExperts Upload(const Stream& stream, const HostExperts& from, int64_t experts) {
  DeviceExperts to;
  int largest_scale = 0;
  if (from.bf16 != nullptr) {
    to.bf16 = ToDevice(stream, Transposed(from.bf16, experts, from.k, from.columns), kWeights);
  } else {
    const auto elements = static_cast<size_t>(experts * from.columns * from.k);
    to.blocks = ToDevice(stream, std::span(from.blocks, elements / 2), kWeights);
    const std::span scales(from.scales, elements / 32);
    to.scales = ToDevice(stream, scales, kWeights);
    largest_scale = *std::max_element(scales.begin(), scales.end());
  }
  to.bias = ToDevice(stream, from.bias, kWeights);
  to.matrix = {to.blocks.data(),
               to.scales.data(),
               to.bf16.data(),
               to.bias.data(),
               from.columns,
               from.k,
               from.input_scale > 0 ? from.input_scale : 1,
               largest_scale};
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

DeviceLayer UploadLayer(const Stream& stream, const ModelConfig& c, const LayerTensors& tensors,
                        bool sliding) {
  DeviceLayer layer;
  layer.sliding = sliding;
  layer.input_norm = ToDevice(stream, Widen(tensors.input_norm), kWeights);
  layer.post_attention_norm = ToDevice(stream, Widen(tensors.post_attention_norm), kWeights);
  layer.sinks = ToDevice(stream, Widen(tensors.sinks), kWeights);
  layer.qkv = Upload(stream, {&tensors.q, &tensors.k, &tensors.v}, c.hidden_size);
  layer.o = Upload(stream, {&tensors.o}, c.num_attention_heads * c.head_dim);
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
             experts.experts);
  layer.down = Upload(stream,
                      {experts.down_blocks, experts.down_scales, experts.down_bf16, experts.down_bias,
                       experts.hidden, experts.intermediate, experts.down_input_scale},
                      experts.experts);
  return layer;
}

}  // namespace assay::engine
