#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "kernels/panel/panel.h"

namespace assay::kernels {
namespace {

// The least bf16 that is not below `value` >= 0.
Bf16 RoundUpToBf16(float value) {
  return static_cast<Bf16>((std::bit_cast<uint32_t>(value) + 0xFFFFu) >> 16);
}

void PackInt8Column(const Bf16* weights, int64_t n, int64_t column, Int8PanelBlock& block) {
  float largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float value = FromBf16(weights[i]);
    if (!std::isfinite(value)) {
      block.scales[column] = ToBf16(std::numeric_limits<float>::quiet_NaN());
      return;
    }
    largest = std::max(largest, std::abs(value));
  }
  if (largest < kInt8Smallest) return;
  block.scales[column] = RoundUpToBf16(largest / 127);
  const float inverse = 1 / FromBf16(block.scales[column]);
  for (int64_t i = 0; i < n; ++i) {
    block.values[i / 4][column][Int8Slot(i) % 4] =
        static_cast<int8_t>(std::nearbyint(FromBf16(weights[i]) * inverse));
  }
}

}  // namespace

void PackBf16Panels(const Bf16* weights, int64_t columns, int64_t k, uint8_t* panels) {
  CHECK_EQ(k % 2, 0);
  for (int64_t column = 0; column < PanelCount(columns) * kPanel; ++column) {
    Bf16* panel = reinterpret_cast<Bf16*>(panels + column / kPanel * PanelBytes(PanelFormat::kBf16, k));
    for (int64_t i = 0; i < k; ++i) {
      panel[(i / 2 * kPanel + column % kPanel) * 2 + i % 2] = column < columns ? weights[column * k + i] : 0;
    }
  }
}

void PackInt8Panels(const Bf16* weights, int64_t columns, int64_t k, uint8_t* panels) {
  const int64_t bytes = PanelCount(columns) * PanelBytes(PanelFormat::kInt8, k);
  std::fill(panels, panels + bytes, uint8_t{0});
  auto* blocks = reinterpret_cast<Int8PanelBlock*>(panels);
  for (int64_t column = 0; column < columns; ++column) {
    Int8PanelBlock* panel = blocks + column / kPanel * Int8Blocks(k);
    for (int64_t i = 0; i < k; i += kInt8Block) {
      PackInt8Column(weights + column * k + i, std::min(kInt8Block, k - i), column % kPanel,
                     panel[i / kInt8Block]);
    }
  }
}

}  // namespace assay::kernels
