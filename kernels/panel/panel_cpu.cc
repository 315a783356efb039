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
HWY_INLINE void Tile(const Bf16* panel, int64_t k, int64_t terms, const Bf16* const* rows, float* out,
                     int64_t out_stride) {
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
    for (int64_t at = 2 * pair; at < terms * k; at += k) {
      ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
        const auto x0 = hn::Set(df, FromBf16(rows[r][at])), x1 = hn::Set(df, FromBf16(rows[r][at + 1]));
        ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = hn::MulAdd(even[v], x0, hn::MulAdd(odd[v], x1, sums[r][v]));
        }
      }
    }
  }
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], df, out + r * out_stride + v * kLanes);
    }
  }
}

void Multiply(const Panels& panels, const PanelRows& rows, float* out, int64_t out_stride) {
  constexpr int kTile = kLanes == 16 ? 8 : 2;
  for (int64_t p = 0; p < panels.count; ++p, out += kPanel) {
    const Bf16* panel = panels.data + p * PanelElements(panels.k);
    int64_t r = 0;
    for (; r + kTile <= rows.count; r += kTile) {
      Tile<kTile>(panel, panels.k, rows.terms, rows.rows + r, out + r * out_stride, out_stride);
    }
    for (; r < rows.count; ++r) {
      Tile<1>(panel, panels.k, rows.terms, rows.rows + r, out + r * out_stride, out_stride);
    }
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(Multiply);
PanelFunction PortablePanelMatmul() {
  return [](const Panels& panels, const PanelRows& rows, float* out, int64_t out_stride) {
    HWY_DYNAMIC_DISPATCH(Multiply)(panels, rows, out, out_stride);
  };
}

}  // namespace assay::kernels
#endif
