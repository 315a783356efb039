#include <algorithm>
#include <limits>

#include "base/check.h"
#include "engine/model/device_sampler.h"

namespace assay::engine {

DeviceSampler::DeviceSampler(int64_t max_rows, int64_t vocabulary)
    : vocabulary_(vocabulary),
      can_sample_(kernels::gpu::CanSample(vocabulary)),
      host_rows_(max_rows, "pinned memory for draws"),
      rows_(max_rows, "the draws of a step"),
      scratch_(kernels::gpu::SampleScratchBytes(max_rows), "memory for draws") {}

void DeviceSampler::Draw(const kernels::gpu::Stream& stream, std::span<const Sequence> batch,
                         const float* logits, int32_t* ids) {
  int64_t count = 0;
  int32_t row = 0;
  for (const Sequence& sequence : batch) {
    if (!sequence.want_logits) continue;
    if (sequence.pick && sequence.pick->temperature > 0 && Draws(*sequence.pick)) {
      const Pick& pick = *sequence.pick;
      CHECK_LT(count, host_rows_.size());
      const int64_t top_k = std::clamp<int64_t>(pick.top_k, 0, std::numeric_limits<int32_t>::max());
      host_rows_.data()[count++] = {
          row, static_cast<int32_t>(top_k), pick.temperature, pick.u, pick.top_p, pick.min_p};
    }
    ++row;
  }
  if (count == 0) return;
  stream.CopyToDevice(rows_.data(), host_rows_.data(),
                      static_cast<size_t>(count) * sizeof(kernels::gpu::SampledRow));
  kernels::gpu::Sample(stream.handle(), {logits, vocabulary_, rows_.data(), count, ids, scratch_.data()});
}

}  // namespace assay::engine
