#include "kernels/gpu/device.h"
#include "kernels/router_logits/router_logits_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 256;  // share the sum of one expert
constexpr int kRows = 4;       // of a block: a weight is read once for them
constexpr int kHeld = 3;       // fours of weights that a thread asks for before there are rows

// Grid (rows / kRows, experts).
__global__ void __launch_bounds__(kThreads) RouterTile(RouterProduct in) {
  __shared__ float shared[kRows][kThreads / kLanes];
  const int64_t expert = blockIdx.y, first = static_cast<int64_t>(blockIdx.x) * kRows;
  const float4* weights = reinterpret_cast<const float4*>(in.weights + expert * in.hidden);
  float sums[kRows] = {};
  const int fours = static_cast<int>(in.hidden / 4);
  const auto add = [&](int i, const float4& w) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      if (first + r >= in.rows) continue;
      const float4 x = reinterpret_cast<const float4*>(in.x + (first + r) * in.hidden)[i];
      sums[r] += x.x * w.x + x.y * w.y + x.z * w.z + x.w * w.w;
    }
  };
  float4 held[kHeld];
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int at = static_cast<int>(threadIdx.x) + i * kThreads;
    held[i] = at < fours ? weights[at] : float4{0, 0, 0, 0};
  }
  const float bias = in.bias[expert];
  AwaitEarlier();
#pragma unroll
  for (int i = 0; i < kHeld; ++i) {
    const int at = static_cast<int>(threadIdx.x) + i * kThreads;
    if (at < fours) add(at, held[i]);
  }
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x) + kHeld * kThreads; i < fours; i += kThreads) add(i, weights[i]);
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (first + r >= in.rows) break;
    const float sum = SumBlock(sums[r], shared[r]);
    if (threadIdx.x == 0) in.logits[(first + r) * in.experts + expert] = sum + bias;
  }
}

}  // namespace

void RouterLogits(void* stream, const RouterProduct& product) {
  ASSAY_LAUNCH("router_logits", RouterTile,
               dim3(Blocks(product.rows, kRows), static_cast<unsigned>(product.experts)), kThreads, stream,
               product);
}

}  // namespace assay::kernels::gpu
