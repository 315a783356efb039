#include "kernels/argmax/argmax_gpu.h"
#include "kernels/gpu/device.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 256;

// The order of numbers as integers; what must not be sampled from is the highest of all.
__device__ uint64_t Key(float logit, int64_t id) {
  const uint32_t bits = __float_as_uint(logit == 0 ? 0.0f : logit);
  const uint32_t ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  const bool bad = isnan(logit) || (isinf(logit) && logit > 0);
  return static_cast<uint64_t>(bad ? 0xFFFFFFFFu : ordered) << 32 | (0xFFFFFFFFu - static_cast<uint32_t>(id));
}

// Grid (rows, kArgmaxParts).
__global__ void __launch_bounds__(kThreads)
    ArgmaxPart(const float* logits, int64_t vocabulary, uint64_t* keys) {
  __shared__ uint64_t best_of[kThreads / kLanes];
  AwaitEarlier();
  const float* row = logits + blockIdx.x * vocabulary;
  const int64_t part = (vocabulary + kArgmaxParts - 1) / kArgmaxParts, begin = blockIdx.y * part;
  const int64_t end = begin + part < vocabulary ? begin + part : vocabulary;
  uint64_t best = 0;  // below every key
#pragma unroll 8
  for (int64_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const uint64_t key = Key(row[i], i);
    best = key > best ? key : best;
  }
  best = MaxLanes(best);
  if (Lane() == 0) best_of[GroupOfLanes()] = best;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kThreads / kLanes; ++i) best = best_of[i] > best ? best_of[i] : best;
  keys[blockIdx.x * kArgmaxParts + blockIdx.y] = best;
}

// A group of lanes a row.
__global__ void __launch_bounds__(kLanes) ArgmaxOfParts(const uint64_t* keys, int32_t* ids) {
  static_assert(kArgmaxParts == kLanes);
  AwaitEarlier();
  const uint64_t best = MaxLanes(keys[blockIdx.x * kArgmaxParts + threadIdx.x]);
  if (threadIdx.x != 0) return;
  constexpr uint32_t kNegativeInfinity = ~0xFF800000u;
  const auto value = static_cast<uint32_t>(best >> 32);
  ids[blockIdx.x] = value == 0xFFFFFFFFu || value == kNegativeInfinity
                        ? -1
                        : static_cast<int32_t>(0xFFFFFFFFu - static_cast<uint32_t>(best));
}

}  // namespace

void Argmax(void* stream, const float* logits, int64_t rows, int64_t vocabulary, uint64_t* keys,
            int32_t* ids) {
  const auto count = static_cast<unsigned>(rows);
  ASSAY_LAUNCH("argmax", ArgmaxPart, dim3(count, kArgmaxParts), kThreads, stream, logits, vocabulary, keys);
  ASSAY_LAUNCH("argmax", ArgmaxOfParts, dim3(count), kLanes, stream, keys, ids);
}

}  // namespace assay::kernels::gpu
