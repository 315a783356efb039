#include "kernels/simd.h"
#include "kernels/swiglu/swiglu.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/swiglu/swiglu_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// What Min and Max make of a NaN differs between instruction sets; a NaN has to stay visible.
template <class D>
HWY_INLINE hn::Vec<D> Gated(D df, hn::Vec<D> gate, hn::Vec<D> up, hn::Vec<D> limit) {
  const auto g = hn::Min(gate, limit);
  const auto u = hn::Max(hn::Neg(limit), hn::Min(up, limit));
  // exp is infinite above 88.8; Highway's is defined up to 104.
  const auto power = hn::Min(hn::Set(df, 100.0f), hn::Mul(hn::Set(df, -kSwigluAlpha), g));
  const auto one = hn::Set(df, 1.0f);
  const auto y = hn::Mul(hn::Div(g, hn::Add(one, hn::Exp(df, power))), hn::Add(u, one));
  const auto sum = hn::Add(gate, up);
  return hn::IfThenElse(hn::Or(hn::IsNaN(gate), hn::IsNaN(up)), sum, y);
}

void Row(const float* gate, const float* up, int64_t n, float limit, float* y) {
  const hn::ScalableTag<float> df;
  const auto lanes = static_cast<int64_t>(hn::Lanes(df));
  const auto limits = hn::Set(df, limit);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(Gated(df, hn::LoadU(df, gate + i), hn::LoadU(df, up + i), limits), df, y + i);
  }
  const hn::CappedTag<float, 1> d1;
  for (; i < n; ++i) {
    hn::StoreU(Gated(d1, hn::LoadU(d1, gate + i), hn::LoadU(d1, up + i), hn::Set(d1, limit)), d1, y + i);
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(Row);
void Swiglu(const float* gate, const float* up, int64_t n, float limit, float* y) {
  HWY_DYNAMIC_DISPATCH(Row)(gate, up, n, limit, y);
}

}  // namespace assay::kernels
#endif
