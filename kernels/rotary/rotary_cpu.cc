#include "base/check.h"
#include "kernels/rotary/rotary.h"
#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotary/rotary_cpu.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void Turn(const float* cos, const float* sin, int64_t half, int64_t heads, float* row) {
  const hn::ScalableTag<float> df;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  for (int64_t h = 0; h < heads; ++h, row += 2 * half) {
    int64_t i = 0;
    for (; i + lanes <= half; i += lanes) {
      const auto a = hn::LoadU(df, row + i), b = hn::LoadU(df, row + half + i);
      const auto c = hn::LoadU(df, cos + i), s = hn::LoadU(df, sin + i);
      hn::StoreU(hn::NegMulAdd(b, s, hn::Mul(a, c)), df, row + i);
      hn::StoreU(hn::MulAdd(a, s, hn::Mul(b, c)), df, row + half + i);
    }
    for (; i < half; ++i) {
      const float a = row[i], b = row[half + i];
      row[i] = a * cos[i] - b * sin[i];
      row[half + i] = b * cos[i] + a * sin[i];
    }
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(Turn);
void Rotary(const RotaryTable& table, int64_t position, int64_t heads, float* row) {
  CHECK_LT(position, table.positions);
  const int64_t half = table.head_dim / 2;
  HWY_DYNAMIC_DISPATCH(Turn)
  (table.cos.data() + position * half, table.sin.data() + position * half, half, heads, row);
}

}  // namespace assay::kernels
#endif
