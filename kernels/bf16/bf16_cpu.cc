#include <cmath>

#include "kernels/bf16/bf16.h"
#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bf16/bf16_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DU = hn::RebindToUnsigned<D>;

// ToBf16 of each lane, in its lower half.
HWY_INLINE hn::Vec<DU> RoundedBits(hn::Vec<D> value) {
  const DU du;
  const auto bits = hn::BitCast(du, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFF))));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)), hn::Set(du, 0x7FC0), rounded);
}

HWY_INLINE void StoreHalves(hn::Vec<DU> lanes, Bf16* out) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint16_t, D> d16;
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, lanes)), d16, out);
}

// The bits of value - high, rounded; nothing is left of what has become infinite.
HWY_INLINE hn::Vec<DU> RestBits(hn::Vec<D> value, hn::Vec<D> high) {
  return RoundedBits(hn::IfThenElseZero(hn::IsFinite(high), hn::Sub(value, high)));
}

void SplitRow(const float* in, int64_t n, int64_t terms, Bf16* high, Bf16* low) {
  const D df;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(df, in + i);
    const auto first = RoundedBits(value);
    StoreHalves(first, high + i);
    if (terms < 2) continue;
    StoreHalves(RestBits(value, hn::BitCast(df, hn::ShiftLeft<16>(first))), low + i);
  }
  for (; i < n; ++i) {
    high[i] = ToBf16(in[i]);
    const float first = FromBf16(high[i]);
    if (terms > 1) low[i] = std::isfinite(first) ? ToBf16(in[i] - first) : Bf16{0};
  }
}

void RoundRow(const float* in, int64_t n, int64_t terms, float* out) {
  const D df;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(df, in + i);
    auto sum = hn::BitCast(df, hn::ShiftLeft<16>(RoundedBits(value)));
    if (terms > 1) sum = hn::Add(sum, hn::BitCast(df, hn::ShiftLeft<16>(RestBits(value, sum))));
    hn::StoreU(sum, df, out + i);
  }
  for (; i < n; ++i) {
    const float high = FromBf16(ToBf16(in[i]));
    out[i] = terms > 1 && std::isfinite(high) ? high + FromBf16(ToBf16(in[i] - high)) : high;
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(SplitRow);
HWY_EXPORT(RoundRow);
void SplitToBf16(const float* in, int64_t n, int64_t terms, Bf16* high, Bf16* low) {
  HWY_DYNAMIC_DISPATCH(SplitRow)(in, n, terms, high, low);
}
void RoundToBf16(const float* in, int64_t n, int64_t terms, float* out) {
  HWY_DYNAMIC_DISPATCH(RoundRow)(in, n, terms, out);
}

}  // namespace assay::kernels
#endif
