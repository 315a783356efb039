#include <algorithm>

#include "base/check.h"
#include "kernels/dense_matmul/dense_matmul.h"

namespace assay::kernels {
namespace {

constexpr int64_t kRowTile = 48;
constexpr int64_t kPanelTile = 4;

}  // namespace

DenseWeights PackDense(std::span<const Bf16> weights, std::span<const float> bias, int64_t columns,
                       int64_t k) {
  CHECK_EQ(static_cast<int64_t>(weights.size()), columns * k);
  DenseWeights packed{columns, k, Aligned<Bf16>(PanelCount(columns) * PanelElements(k)),
                      Aligned<float>(PanelCount(columns) * kPanel)};
  PackPanels(weights.data(), columns, k, packed.panels.data());
  std::copy(bias.begin(), bias.end(), packed.bias.data());
  return packed;
}

void DenseMatmul(const DenseWeights& weights, const DenseInput& input, int64_t first, int64_t last,
                 Store store, float* y, int64_t y_stride) {
  const int64_t x_stride = input.terms * weights.k;
  alignas(64) float sums[kRowTile * kPanelTile * kPanel];
  for (int64_t panel = first; panel < last; panel += kPanelTile) {
    const int64_t count = std::min(kPanelTile, last - panel);
    const int64_t column = panel * kPanel;
    const int64_t width = std::min(weights.columns - column, count * kPanel);
    const float* bias = weights.bias.data() + column;
    for (int64_t row = 0; row < input.rows; row += kRowTile) {
      const int64_t n_rows = std::min(kRowTile, input.rows - row);
      const Bf16* pointers[kRowTile];
      for (int64_t r = 0; r < n_rows; ++r) pointers[r] = input.x + (row + r) * x_stride;
      PanelMatmul({weights.panels.data() + panel * PanelElements(weights.k), count, weights.k},
                  {pointers, n_rows, input.terms}, sums, kPanelTile * kPanel);
      for (int64_t r = 0; r < n_rows; ++r) {
        const float* sum = sums + r * kPanelTile * kPanel;
        float* out = y + (row + r) * y_stride + column;
        if (store == Store::kAdd) {
          for (int64_t n = 0; n < width; ++n) out[n] += sum[n] + bias[n];
        } else {
          for (int64_t n = 0; n < width; ++n) out[n] = sum[n] + bias[n];
        }
      }
    }
  }
}

}  // namespace assay::kernels
