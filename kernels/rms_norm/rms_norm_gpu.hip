#include "kernels/gpu/device.h"
#include "kernels/rms_norm/rms_norm_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kMostThreads = 1024;
constexpr int kHeld = 4;  // numbers of a row that a thread keeps; those beyond them it reads twice

__global__ void __launch_bounds__(kMostThreads) NormRow(RmsNormRows in) {
  __shared__ float shared[kMostThreads / kLanes];
  const int64_t t = blockIdx.x;
  float weight[kHeld], held[kHeld];
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int64_t at = threadIdx.x + static_cast<int64_t>(i) * blockDim.x;
    weight[i] = at < in.n ? in.weight[at] : 0.0f;
  }
  AwaitEarlier();
  const int64_t row = in.rows == nullptr ? t : in.rows[t];
  const auto x = [&](int64_t i) {
    const int64_t rank = in.slice == in.n ? 0 : static_cast<int>(i) / static_cast<int>(in.slice);
    return in.x[(rank * in.x_rows + row) * in.slice + i - rank * in.slice];
  };
  const int64_t beyond = threadIdx.x + static_cast<int64_t>(kHeld) * blockDim.x;
  float squares = 0;
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int64_t at = threadIdx.x + static_cast<int64_t>(i) * blockDim.x;
    held[i] = at < in.n ? x(at) : 0.0f;
  }
#pragma unroll
  for (int i = 0; i < kHeld; ++i) squares += held[i] * held[i];
  for (int64_t i = beyond; i < in.n; i += blockDim.x) squares += x(i) * x(i);
  squares = SumBlock(squares, shared);
  const float inverse = 1 / sqrtf(squares / static_cast<float>(in.n) + static_cast<float>(in.epsilon));
  const auto store = [&](int64_t i, float number, float by) {
    const float y = number * inverse * by;
    const int64_t at = t * in.n + i;
    if (in.bf16 != nullptr) in.bf16[at] = Narrow(y);
    if (in.fp8_codes != nullptr) in.fp8_codes[at] = Narrow(RoundToE4M3(y / in.fp8_scale));
    if (in.float32 != nullptr) in.float32[at] = y;
  };
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int64_t at = threadIdx.x + static_cast<int64_t>(i) * blockDim.x;
    if (at < in.n) store(at, held[i], weight[i]);
  }
  for (int64_t i = beyond; i < in.n; i += blockDim.x) store(i, x(i), in.weight[i]);
}

}  // namespace

void RmsNorm(void* stream, const RmsNormRows& rows) {
  const int threads = rows.n >= 2048 ? kMostThreads : 256;  // whatever the number of rows
  ASSAY_LAUNCH("rms_norm", NormRow, dim3(static_cast<unsigned>(rows.count)), threads, stream, rows);
}

}  // namespace assay::kernels::gpu
