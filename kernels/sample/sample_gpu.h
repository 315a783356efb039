#pragma once

#include <cstdint>

namespace assay::kernels::gpu {

// How one row is drawn from. A token weighs e^((logit - largest) / temperature). Without a filter the draw is
// the first, by id, at which the running weight passes u times the sum. With one, tokens are taken by
// (largest logit, lower id): those that weigh at least min_p, at most top_k of them, and of these no more
// than it takes to reach top_p of their weight; the draw is the first at which the running weight passes u
// times that of all that are left.
struct SampledRow {
  int32_t row;         // of the logits
  int32_t top_k;       // 0: no limit
  double temperature;  // above 0
  double u;            // [0, 1)
  double top_p = 1;    // (0, 1]; 1: no limit
  double min_p = 0;    // [0, 1]; 0: no limit
};

struct SampleBatch {
  const float* logits;  // [.., vocabulary]
  int64_t vocabulary;   // at most 2^19
  const SampledRow* rows;
  int64_t count;  // of `rows`
  // As Argmax left them. Those of `rows` become what is drawn; -1 stays.
  int32_t* ids;
  void* scratch;  // SampleScratchBytes
};
constexpr int64_t kSampleRowBytes = 3 * 1024 * 12 + 64 * 8 + 8;
constexpr int64_t SampleScratchBytes(int64_t count) {
  return count * kSampleRowBytes + 8;
}
// Weights are whole numbers of 2^-44, so sums are exact in any order: a draw depends on its row alone. Blocks
// of threads of a row wait for each other, so the device must hold vocabulary / 8192 of them at once: a part
// of a GPU may not (CanSample). Only where that holds.
bool CanSample(int64_t vocabulary);
void Sample(void* stream, const SampleBatch& batch);

}  // namespace assay::kernels::gpu
