#pragma once

#include <vector>

#include "engine/model/checkpoint.h"
#include "engine/model/shard.h"
#include "kernels/expert_matmul/expert_matmul_gpu.h"
#include "kernels/gpu/runtime.h"

namespace assay::engine {

template <class T>
using DeviceBuffer = kernels::gpu::DeviceBuffer<T>;

// A linear layer, or a rank's columns of it, in device memory: weight [columns, k] as bf16, bias [columns] as
// float32 and as bf16.
struct DeviceLinear {
  DeviceBuffer<kernels::Bf16> weight;
  DeviceBuffer<float> bias;  // both empty where the layer has none
  DeviceBuffer<kernels::Bf16> bias_bf16;
  int64_t columns = 0, k = 0;
};

// One of the two matrices of a layer's experts.
struct DeviceExperts {
  DeviceBuffer<uint8_t> blocks, scales;
  DeviceBuffer<kernels::Bf16> bf16;  // [experts, columns, k], instead of blocks and scales
  DeviceBuffer<float> bias;
  kernels::gpu::ExpertMatrix matrix{};  // of the above
};

// A rank's part of a layer in device memory. Rows of qkv: its queries, its keys, its values.
struct DeviceLayer {
  bool sliding = false;
  DeviceBuffer<float> input_norm, post_attention_norm, sinks;
  DeviceLinear qkv, o;
  DeviceBuffer<float> router, router_bias;
  DeviceExperts gate_up, down;
  float key_scale = 1, value_scale = 1;  // of the codes of an FP8 cache
  bool fp8_activations = false;

  int64_t DenseBytes() const;
  int64_t BytesOfOneExpert(int64_t experts) const;
};
DeviceLayer UploadLayer(const kernels::gpu::Stream& stream, const ModelConfig& config,
                        const LayerTensors& tensors, bool sliding, const Shard& shard);
// The rank's columns of several linear layers of the same input as one.
DeviceLinear UploadLinear(const kernels::gpu::Stream& stream,
                          std::initializer_list<const LinearTensors*> parts, int64_t k, const Shard& shard);
// The rank's columns of a table [rows, columns].
DeviceBuffer<kernels::Bf16> UploadColumns(const kernels::gpu::Stream& stream, Bf16Span table, int64_t columns,
                                          const Shard& shard);

}  // namespace assay::engine
