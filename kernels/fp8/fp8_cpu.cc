#include "kernels/simd.h"
// simd.h first: it says what is compiled.
#include "kernels/fp8/fp8.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fp8/fp8_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

struct Grid {
  float scale, worth, largest;  // of a code: the scale, or 1
  float smallest_normal;
  float magic;  // 1.5 * 2^23 units of the subnormals: adding it rounds to a whole number of them
  bool has_minus_zero;
};

Grid GridOf(Fp8 format, float scale, float worth) {
  const bool fn = format == Fp8::kE4M3FN;
  const float smallest = fn ? 0x1p-6f : 0x1p-7f;
  return {scale, worth, Fp8Largest(format), smallest, smallest * 0x1.8p20f, fn};
}

template <class D>
HWY_INLINE hn::Vec<D> Rounded(D df, const Grid& grid, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> du;
  const auto y = hn::Div(x, hn::Set(df, grid.scale));
  const auto size = hn::Min(hn::Abs(y), hn::Set(df, grid.largest));
  // Keeps three mantissa bits of the float's 23, ties to even.
  const auto bits = hn::BitCast(du, size);
  const auto odd = hn::And(hn::ShiftRight<20>(bits), hn::Set(du, 1u));
  const auto up = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFFu)));
  const auto normal = hn::BitCast(df, hn::And(up, hn::Set(du, 0xFFF00000u)));
  const auto magic = hn::Set(df, grid.magic);
  const auto subnormal = hn::Sub(hn::Add(size, magic), magic);
  const auto rounded = hn::IfThenElse(hn::Lt(size, hn::Set(df, grid.smallest_normal)), subnormal, normal);
  auto with_sign = hn::CopySignToAbs(rounded, y);
  if (!grid.has_minus_zero) with_sign = hn::Add(with_sign, hn::Zero(df));
  return hn::IfThenElse(hn::IsNaN(y), y, hn::Mul(with_sign, hn::Set(df, grid.worth)));
}

void Round(Fp8 format, float scale, float worth, int64_t n, float* x) {
  const Grid grid = GridOf(format, scale, worth);
  const hn::ScalableTag<float> df;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Rounded(df, grid, hn::LoadU(df, x + i)), df, x + i);
  const hn::CappedTag<float, 1> d1;
  for (; i < n; ++i) hn::StoreU(Rounded(d1, grid, hn::LoadU(d1, x + i)), d1, x + i);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(Round);
void EncodeToFp8(Fp8 format, float scale, int64_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(Round)(format, scale, 1, n, x);
}
void RoundToFp8(Fp8 format, float scale, int64_t n, float* x) {
  HWY_DYNAMIC_DISPATCH(Round)(format, scale, scale, n, x);
}

}  // namespace assay::kernels
#endif
