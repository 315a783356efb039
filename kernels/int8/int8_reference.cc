#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/int8/int8.h"

namespace assay::kernels {
namespace {

Int8Block QuantiseBlock(const float* in, int64_t n) {
  Int8Block block{};
  float largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(in[i])) {
      block.scale = std::numeric_limits<float>::quiet_NaN();
      return block;
    }
    largest = std::max(largest, std::abs(in[i]));
  }
  if (largest < kInt8Smallest) return block;
  block.scale = largest / 127;
  const float inverse = 1 / block.scale;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t slot = Int8Slot(i);
    block.values[slot] = static_cast<int8_t>(std::nearbyint(in[i] * inverse));
    block.sums[slot % 4 / 2] = static_cast<int16_t>(block.sums[slot % 4 / 2] + block.values[slot]);
  }
  return block;
}

}  // namespace

void QuantiseInt8Reference(const float* in, int64_t n, Int8Block* out) {
  for (int64_t i = 0; i < n; i += kInt8Block) *out++ = QuantiseBlock(in + i, std::min(kInt8Block, n - i));
}

}  // namespace assay::kernels
