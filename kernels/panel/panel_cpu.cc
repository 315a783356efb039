#include <cstring>

#include "kernels/panel/panel.h"
#include "kernels/simd.h"
#include "kernels/unroll.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel/panel_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = static_cast<int>(kPanel) / kLanes;

// Rows x one panel, the sums in registers where the instruction set has enough of them.
template <int kRows>
HWY_INLINE void Tile(const Bf16* panel, int64_t k, const Bf16* const* rows, float* out, int64_t out_stride) {
  const D df;
  const hn::RebindToUnsigned<D> du;
  hn::Vec<D> sums[kRows][kVectors];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(df);
  }
  const auto* weights = reinterpret_cast<const uint32_t*>(panel);
  const auto upper = hn::Set(du, 0xFFFF0000u);
  for (int64_t pair = 0; pair < k / 2; ++pair, weights += kPanel) {
    hn::Vec<D> even[kVectors], odd[kVectors];
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      const auto both = hn::LoadU(du, weights + v * kLanes);
      even[v] = hn::BitCast(df, hn::ShiftLeft<16>(both));
      odd[v] = hn::BitCast(df, hn::And(both, upper));
    }
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      const auto x0 = hn::Set(df, FromBf16(rows[r][2 * pair]));
      const auto x1 = hn::Set(df, FromBf16(rows[r][2 * pair + 1]));
      ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(even[v], x0, hn::MulAdd(odd[v], x1, sums[r][v]));
      }
    }
  }
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], df, out + r * out_stride + v * kLanes);
    }
  }
}

void Panels(const Bf16* panels, int64_t count, int64_t k, const Bf16* const* rows, int64_t n_rows, float* out,
            int64_t out_stride) {
  constexpr int kTile = kLanes == 16 ? 8 : 2;
  for (int64_t p = 0; p < count; ++p, panels += PanelElements(k), out += kPanel) {
    int64_t r = 0;
    for (; r + kTile <= n_rows; r += kTile)
      Tile<kTile>(panels, k, rows + r, out + r * out_stride, out_stride);
    for (; r < n_rows; ++r) Tile<1>(panels, k, rows + r, out + r * out_stride, out_stride);
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(Panels);
PanelFunction PortablePanelMatmul() {
  return [](const Bf16* panels, int64_t count, int64_t k, const Bf16* const* rows, int64_t n_rows, float* out,
            int64_t out_stride) {
    HWY_DYNAMIC_DISPATCH(Panels)(panels, count, k, rows, n_rows, out, out_stride);
  };
}

}  // namespace assay::kernels
#endif
