#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/int8/int8.h"
#include "kernels/simd.h"
#include "kernels/unroll.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8/int8_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using DI = hn::RebindToSigned<D>;
using DU = hn::RebindToUnsigned<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = static_cast<int>(kInt8Block) / kLanes;

// The bits of the largest magnitude, which order as the magnitudes do; what is not finite is above all.
HWY_INLINE uint32_t LargestBits(const hn::Vec<D>* values) {
  const DU du;
  auto largest = hn::Zero(du);
  ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
    largest = hn::Max(largest, hn::BitCast(du, hn::Abs(values[v])));
  }
  alignas(64) uint32_t lanes[kLanes];
  hn::Store(largest, du, lanes);
  return *std::max_element(lanes, lanes + kLanes);
}

HWY_INLINE void QuantiseBlock(const float* in, Int8Block* out) {
  const D df;
  hn::Vec<D> values[kVectors];
  ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) values[v] = hn::LoadU(df, in + v * kLanes);
  const float largest = std::bit_cast<float>(LargestBits(values));
  *out = Int8Block{};
  if (!(largest >= kInt8Smallest) || largest > std::numeric_limits<float>::max()) {
    if (!(largest < kInt8Smallest)) out->scale = std::numeric_limits<float>::quiet_NaN();
    return;
  }
  out->scale = largest / 127;
  const auto inverse = hn::Set(df, 1 / out->scale);
  alignas(64) int8_t bytes[kInt8Block];
  ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
    const auto whole = hn::NearestInt(hn::Mul(values[v], inverse));
    hn::StoreU(hn::DemoteTo(hn::Rebind<int8_t, D>(), whole), hn::Rebind<int8_t, D>(), bytes + v * kLanes);
  }
  int32_t first = 0, last = 0;
  for (int64_t i = 0; i < kInt8Block; i += 4) {
    out->values[i] = bytes[i];
    out->values[i + 1] = bytes[i + 2];
    out->values[i + 2] = bytes[i + 1];
    out->values[i + 3] = bytes[i + 3];
    first += bytes[i] + bytes[i + 2];
    last += bytes[i + 1] + bytes[i + 3];
  }
  out->sums[0] = static_cast<int16_t>(first);
  out->sums[1] = static_cast<int16_t>(last);
}

void Quantise(const float* in, int64_t n, Int8Block* out) {
  int64_t i = 0;
  for (; i + kInt8Block <= n; i += kInt8Block) QuantiseBlock(in + i, out++);
  if (i == n) return;
  float rest[kInt8Block] = {};
  std::copy(in + i, in + n, rest);
  QuantiseBlock(rest, out);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(Quantise);
void QuantiseInt8(const float* in, int64_t n, Int8Block* out) {
  HWY_DYNAMIC_DISPATCH(Quantise)(in, n, out);
}

}  // namespace assay::kernels
#endif
