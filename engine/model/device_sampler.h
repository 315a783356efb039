#pragma once

#include <span>

#include "engine/model/model.h"
#include "kernels/gpu/runtime.h"
#include "kernels/sample/sample_gpu.h"

namespace assay::engine {

// Draws the tokens of a step whose sequences have a pick with a temperature.
class DeviceSampler {
 public:
  DeviceSampler(int64_t max_rows, int64_t vocabulary);

  // Whether the model picks the token; else its logits are needed.
  bool Draws(const Pick& pick) const { return pick.temperature <= 0 || can_sample_; }
  // `logits` [sequences that want them, vocabulary] in device memory; `ids`, the largest of each row, become
  // what is drawn. Nothing is launched where nothing is drawn. The previous step must be done.
  void Draw(const kernels::gpu::Stream& stream, std::span<const Sequence> batch, const float* logits,
            int32_t* ids);

 private:
  int64_t vocabulary_;
  bool can_sample_;  // the device holds as many blocks of threads at once as that takes
  kernels::gpu::PinnedBuffer<kernels::gpu::SampledRow> host_rows_;
  kernels::gpu::DeviceBuffer<kernels::gpu::SampledRow> rows_;
  kernels::gpu::DeviceBuffer<uint8_t> scratch_;
};

}  // namespace assay::engine
