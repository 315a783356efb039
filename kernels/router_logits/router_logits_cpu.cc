#include <algorithm>

#include "base/check.h"
#include "kernels/router_logits/router_logits.h"
#include "kernels/simd.h"
#include "kernels/unroll.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/router_logits/router_logits_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = 16 / kLanes;

template <int kRows>
HWY_INLINE void Tile(const RouterWeights& router, int64_t expert, const float* x, int64_t x_stride,
                     float* logits) {
  const D df;
  hn::Vec<D> sums[kRows][kVectors];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(df);
  }
  const float* weights = router.weights.data() + expert;
  for (int64_t i = 0; i < router.hidden; ++i, weights += router.padded) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      const auto w = hn::LoadU(df, weights + v * kLanes);
      ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
        sums[r][v] = hn::MulAdd(w, hn::Set(df, x[r * x_stride + i]), sums[r][v]);
      }
    }
  }
  alignas(64) float out[16];
  const int64_t count = std::min<int64_t>(16, router.experts - expert);
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      const auto bias = hn::LoadU(df, router.bias.data() + expert + v * kLanes);
      hn::StoreU(hn::Add(sums[r][v], bias), df, out + v * kLanes);
    }
    std::copy(out, out + count, logits + r * router.experts + expert);
  }
}

void Logits(const RouterWeights& router, const float* x, int64_t x_stride, int64_t rows, float* logits) {
  constexpr int kTile = kLanes == 16 ? 8 : 4;
  for (int64_t expert = 0; expert < router.padded; expert += 16) {
    int64_t r = 0;
    for (; r + kTile <= rows; r += kTile) {
      Tile<kTile>(router, expert, x + r * x_stride, x_stride, logits + r * router.experts);
    }
    for (; r < rows; ++r) Tile<1>(router, expert, x + r * x_stride, x_stride, logits + r * router.experts);
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(Logits);
void RouterLogits(const RouterWeights& weights, const float* x, int64_t x_stride, int64_t rows,
                  float* logits) {
  HWY_DYNAMIC_DISPATCH(Logits)(weights, x, x_stride, rows, logits);
}

RouterWeights PackRouter(std::span<const float> weights, std::span<const float> bias, int64_t experts,
                         int64_t hidden) {
  CHECK_EQ(static_cast<int64_t>(weights.size()), experts * hidden);
  CHECK_EQ(static_cast<int64_t>(bias.size()), experts);
  const int64_t padded = (experts + 15) / 16 * 16;
  RouterWeights packed{experts, hidden, padded, Aligned<float>(hidden * padded), Aligned<float>(padded)};
  for (int64_t e = 0; e < experts; ++e) {
    for (int64_t i = 0; i < hidden; ++i) packed.weights[i * padded + e] = weights[e * hidden + i];
  }
  std::copy(bias.begin(), bias.end(), packed.bias.data());
  return packed;
}

}  // namespace assay::kernels
#endif
