#include <algorithm>
#include <cmath>

#include "kernels/rms_norm/rms_norm.h"
#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rms_norm/rms_norm_cpu.cc"
#include <hwy/foreach_target.h>
// Highway first.
#include <hwy/highway.h>

#include "kernels/lanes16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

float SumOfSquares(const float* x, int64_t n) {
  const Floats df;
  hn::Vec<Floats> sums[kParts];
  for (auto& sum : sums) sum = hn::Zero(df);
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (int64_t part = 0; part < kParts; ++part) {
      const auto value = hn::LoadU(df, x + i + part * kFloats);
      sums[part] = hn::MulAdd(value, value, sums[part]);
    }
  }
  alignas(64) float lanes[16];
  for (int64_t part = 0; part < kParts; ++part) hn::Store(sums[part], df, lanes + part * kFloats);
  for (; i < n; ++i) lanes[i % 16] += x[i] * x[i];
  return TreeSum(lanes);
}

void Norm(const float* x, int64_t rows, int64_t n, const float* weight, double epsilon, float* y) {
  const Floats df;
  for (int64_t t = 0; t < rows; ++t, x += n, y += n) {
    const double mean = static_cast<double>(SumOfSquares(x, n)) / static_cast<double>(n);
    const auto inverse = static_cast<float>(1 / std::sqrt(mean + epsilon));
    const auto inverses = hn::Set(df, inverse);
    int64_t i = 0;
    for (; i + kFloats <= n; i += kFloats) {
      const auto scaled = hn::Mul(hn::LoadU(df, x + i), inverses);
      hn::StoreU(hn::Mul(scaled, hn::LoadU(df, weight + i)), df, y + i);
    }
    for (; i < n; ++i) y[i] = x[i] * inverse * weight[i];
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(Norm);
void RmsNorm(const float* x, int64_t rows, int64_t n, const float* weight, double epsilon, float* y) {
  HWY_DYNAMIC_DISPATCH(Norm)(x, rows, n, weight, epsilon, y);
}

}  // namespace assay::kernels
#endif
