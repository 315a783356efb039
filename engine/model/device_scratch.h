#pragma once

#include "engine/model/config.h"
#include "engine/model/shard.h"
#include "kernels/bf16/bf16.h"
#include "kernels/gpu/runtime.h"

namespace assay::engine {

// Activations of a step on one rank's device. `slice`: the columns that the rank has of what stands there.
struct DeviceScratch {
  template <class T>
  using DeviceBuffer = kernels::gpu::DeviceBuffer<T>;
  using Bf16 = kernels::Bf16;

  DeviceBuffer<float> x;        // [rows, slice of hidden] residual stream
  DeviceBuffer<float> normed;   // [rows, hidden]
  DeviceBuffer<Bf16> input;     // [rows, hidden] of a dense product or of experts
  DeviceBuffer<Bf16> qkv;       // [rows, (heads + 2 kv heads) * head_dim] of the rank's heads
  DeviceBuffer<Bf16> attended;  // [rows, heads * head_dim] of the rank's heads
  DeviceBuffer<float> partial;
  DeviceBuffer<float> router;        // [rows, experts]
  DeviceBuffer<float> gate_weights;  // [rows, k]
  DeviceBuffer<int32_t> ids, col_sum, offsets, col_sorted, row_sorted, schedule;
  DeviceBuffer<uint32_t> bits;
  DeviceBuffer<uint64_t> keys;     // [logit rows, parts]
  DeviceBuffer<Bf16> gated;        // [gates, slice of intermediate]
  DeviceBuffer<float> expert_out;  // [gates, slice of hidden]
  DeviceBuffer<float> logits;      // [logit rows, slice of vocabulary]
  // What ranks gave of the largest of these, and a row's slices side by side; empty for a rank alone.
  DeviceBuffer<uint8_t> gathered, joined;

  DeviceScratch(const ModelConfig& config, const Shard& shard, int64_t rows, int64_t logit_rows,
                int64_t partials);

  // Numbers become NaNs, indices large integers: what is read before it is written shows.
  void Poison(const kernels::gpu::Stream& stream) const { Fill(stream, 0xFF, 0x7F); }
  void Clear(const kernels::gpu::Stream& stream) const { Fill(stream, 0, 0); }

 private:
  void Fill(const kernels::gpu::Stream& stream, int numbers, int indices) const;
};

}  // namespace assay::engine
