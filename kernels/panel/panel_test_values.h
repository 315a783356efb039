#pragma once

// What packed activations and weights stand for, computed from their definitions: for tests.
#include <algorithm>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/panel/panel.h"
#include "kernels/test_data.h"

namespace assay::kernels {

// x [rows, k] as rows of that kind hold it.
inline std::vector<float> ValuesOf(Activations kind, const std::vector<float>& x, int64_t k) {
  std::vector<float> values(x.size());
  for (size_t i = 0; kind != Activations::kInt8 && i < x.size(); ++i) {
    const float high = FromBf16(ToBf16(x[i]));
    values[i] = kind == Activations::kBf16 ? high : high + FromBf16(ToBf16(x[i] - high));
  }
  std::vector<Int8Block> blocks(static_cast<size_t>(Int8Blocks(k)));
  for (size_t row = 0; kind == Activations::kInt8 && row < x.size(); row += static_cast<size_t>(k)) {
    QuantiseInt8Reference(x.data() + row, k, blocks.data());
    for (int64_t i = 0; i < k; ++i) {
      const Int8Block& block = blocks[static_cast<size_t>(i / 32)];
      values[row + static_cast<size_t>(i)] = block.scale * static_cast<float>(block.values[Int8Slot(i % 32)]);
    }
  }
  return values;
}

// Weights [columns, k] as panels hold them.
inline std::vector<float> WeightsOf(bool int8, const std::vector<Bf16>& weights, int64_t k) {
  if (!int8) return Widened(weights);
  const int64_t columns = static_cast<int64_t>(weights.size()) / k, blocks = Int8Blocks(k);
  std::vector<Int8PanelBlock> panels(static_cast<size_t>(PanelCount(columns) * blocks));
  PackInt8Panels(weights.data(), columns, k, reinterpret_cast<uint8_t*>(panels.data()));
  std::vector<float> values(weights.size());
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t i = 0; i < k; ++i) {
      const Int8PanelBlock& block = panels[static_cast<size_t>(n / kPanel * blocks + i / 32)];
      const int8_t value = block.values[i % 32 / 4][n % kPanel][Int8Slot(i % 4)];
      values[static_cast<size_t>(n * k + i)] = FromBf16(block.scales[n % kPanel]) * static_cast<float>(value);
    }
  }
  return values;
}

}  // namespace assay::kernels
