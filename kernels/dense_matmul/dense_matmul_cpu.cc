#include <algorithm>

#include "base/check.h"
#include "kernels/dense_matmul/dense_matmul.h"

namespace assay::kernels {
namespace {

constexpr int64_t kRowTile = 96;

void Put(const float* sums, const float* bias, int64_t width, Store store, float* out) {
  if (store == Store::kAdd) {
    for (int64_t n = 0; n < width; ++n) out[n] += sums[n] + bias[n];
  } else {
    for (int64_t n = 0; n < width; ++n) out[n] = sums[n] + bias[n];
  }
}

}  // namespace

Activations DenseActivations(DenseDtype dtype, Activations activations) {
  if (dtype == DenseDtype::kInt8) return Activations::kInt8;
  return activations == Activations::kInt8 ? Activations::kBf16 : activations;
}

DenseWeights PackDense(std::span<const Bf16> weights, std::span<const float> bias, int64_t columns, int64_t k,
                       DenseDtype dtype) {
  CHECK_EQ(static_cast<int64_t>(weights.size()), columns * k);
  const PanelFormat format = dtype == DenseDtype::kInt8 ? PanelFormat::kInt8 : PanelFormat::kBf16;
  DenseWeights packed{format, columns, k, Aligned<uint8_t>(PanelCount(columns) * PanelBytes(format, k)),
                      Aligned<float>(PanelCount(columns) * kPanel)};
  (dtype == DenseDtype::kInt8 ? PackInt8Panels : PackBf16Panels)(weights.data(), columns, k,
                                                                 packed.panels.data());
  std::copy(bias.begin(), bias.end(), packed.bias.data());
  return packed;
}

void DenseMatmul(const DenseWeights& weights, const DenseInput& input, int64_t first, int64_t last,
                 Store store, float* y, int64_t y_stride) {
  CHECK_EQ(input.rows.K(), weights.k);
  CHECK_LE(input.count, input.rows.Count());
  alignas(64) float sums[kRowTile * kPanel];
  const int64_t panel_bytes = PanelBytes(weights.format, weights.k);
  for (int64_t row = 0; row < input.count; row += kRowTile) {
    const int64_t n_rows = std::min(kRowTile, input.count - row);
    const uint8_t* pointers[kRowTile];
    for (int64_t r = 0; r < n_rows; ++r) pointers[r] = input.rows.Row(row + r);
    const PanelRows rows{input.rows.Format(), input.rows.Terms(), pointers, n_rows};
    for (int64_t panel = first; panel < last; ++panel) {
      PanelMatmul(weights.format, weights.panels.data() + panel * panel_bytes, weights.k, rows, sums);
      const int64_t column = panel * kPanel, width = std::min(weights.columns - column, kPanel);
      for (int64_t r = 0; r < n_rows; ++r) {
        Put(sums + r * kPanel, weights.bias.data() + column, width, store, y + (row + r) * y_stride + column);
      }
    }
  }
}

}  // namespace assay::kernels
