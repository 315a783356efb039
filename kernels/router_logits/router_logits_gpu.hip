#include "kernels/gpu/device.h"
#include "kernels/router_logits/router_logits_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 256;  // share the sum of one expert
constexpr int kRows = 4;       // of a block: a weight is read once for them

// Grid (rows / kRows, experts).
__global__ void __launch_bounds__(kThreads) RouterTile(RouterProduct in) {
  __shared__ float shared[kRows][kThreads / kLanes];
  const int64_t expert = blockIdx.y, first = static_cast<int64_t>(blockIdx.x) * kRows;
  const float4* weights = reinterpret_cast<const float4*>(in.weights + expert * in.hidden);
  float sums[kRows] = {};
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < in.hidden / 4; i += kThreads) {
    const float4 w = weights[i];
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first + r >= in.rows) continue;
      const float4 x = reinterpret_cast<const float4*>(in.x + (first + r) * in.hidden)[i];
      sums[r] += x.x * w.x + x.y * w.y + x.z * w.z + x.w * w.w;
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const float sum = SumBlock(sums[r], shared[r]);
    if (threadIdx.x == 0 && first + r < in.rows)
      in.logits[(first + r) * in.experts + expert] = sum + in.bias[expert];
  }
}

}  // namespace

void RouterLogits(void* stream, const RouterProduct& product) {
  ASSAY_LAUNCH("router_logits", RouterTile,
               dim3(Blocks(product.rows, kRows), static_cast<unsigned>(product.experts)), kThreads, stream,
               product);
}

}  // namespace assay::kernels::gpu
