#include "kernels/gpu/device.h"
#include "kernels/rms_norm/rms_norm_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kMostThreads = 1024;

__global__ void __launch_bounds__(kMostThreads) NormRow(RmsNormRows in) {
  __shared__ float shared[kMostThreads / kLanes];
  const int64_t t = blockIdx.x;
  const float* x = in.x + (in.rows == nullptr ? t : in.rows[t]) * in.n;
  float squares = 0;
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < in.n; i += blockDim.x) squares += x[i] * x[i];
  squares = SumBlock(squares, shared);
  const float inverse = 1 / sqrtf(squares / static_cast<float>(in.n) + static_cast<float>(in.epsilon));
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < in.n; i += blockDim.x) {
    const float y = x[i] * inverse * in.weight[i];
    const int64_t at = t * in.n + i;
    if (in.bf16 != nullptr) in.bf16[at] = Narrow(y);
    if (in.fp8_codes != nullptr) in.fp8_codes[at] = Narrow(RoundToE4M3(y / in.fp8_scale));
    if (in.float32 != nullptr) in.float32[at] = y;
  }
}

}  // namespace

void RmsNorm(void* stream, const RmsNormRows& rows) {
  const int threads = rows.n >= 2048 ? kMostThreads : 256;  // whatever the number of rows
  ASSAY_LAUNCH("rms_norm", NormRow, dim3(static_cast<unsigned>(rows.count)), threads, stream, rows);
}

}  // namespace assay::kernels::gpu
