// 16 float32 lanes, as one AVX-512 vector or several narrower ones, so that sums over lanes are added in the
// same order on every instruction set. Included once a target by *_cpu.cc, after hwy/highway.h.
#if defined(ASSAY_KERNELS_LANES16_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_LANES16_INL_H_
#undef ASSAY_KERNELS_LANES16_INL_H_
#else
#define ASSAY_KERNELS_LANES16_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
constexpr int64_t kFloats = static_cast<int64_t>(hn::MaxLanes(Floats()));
constexpr int64_t kParts = 16 / kFloats;

// Lanes i and i + 8, then i + 4, i + 2, i + 1.
HWY_INLINE float TreeSum(const float* lanes) {
  float sums[8];
  for (int i = 0; i < 8; ++i) sums[i] = lanes[i] + lanes[i + 8];
  for (int i = 0; i < 4; ++i) sums[i] += sums[i + 4];
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
