#pragma once

#include <cstdint>
#include <span>

#include "kernels/memory/aligned.h"
#include "kernels/panel/panel.h"

namespace assay::kernels {

// y[t, n] = sum over k of x[t, k] * w[n, k] + bias[n], or y += that.

// The definition. x [rows, k], w [columns, k], bias [columns] or nullptr, y [rows, columns].
void DenseMatmulReference(const float* x, int64_t rows, int64_t k, const float* weights, const float* bias,
                          int64_t columns, float* y);

// bf16 weights in panels, packed once at load.
struct DenseWeights {
  int64_t columns = 0, k = 0;  // k is even
  Aligned<Bf16> panels;
  Aligned<float> bias;  // a whole number of panels; zeros where the layer has none

  int64_t Panels() const { return PanelCount(columns); }
};
// `weights` row-major [columns, k]; `bias` empty or [columns].
DenseWeights PackDense(std::span<const Bf16> weights, std::span<const float> bias, int64_t columns,
                       int64_t k);

enum class Store { kSet, kAdd };

// bf16 activations, [rows, terms * k] as SplitToBf16 leaves them.
struct DenseInput {
  const Bf16* x;
  int64_t rows, terms;
};

// Panels [first, last) only, which is how threads and ranks share the work. An output is the same number
// whatever the rows and panels beside it.
void DenseMatmul(const DenseWeights& weights, const DenseInput& input, int64_t first, int64_t last,
                 Store store, float* y, int64_t y_stride);

}  // namespace assay::kernels
