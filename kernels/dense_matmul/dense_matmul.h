#pragma once

#include <cstdint>
#include <span>

#include "kernels/activations/activations.h"
#include "kernels/memory/aligned.h"
#include "kernels/panel/panel.h"

namespace assay::kernels {

// y[t, n] = sum over k of x[t, k] * w[n, k] + bias[n], or y += that.

// The definition. x [rows, k], w [columns, k], bias [columns] or nullptr, y [rows, columns].
void DenseMatmulReference(const float* x, int64_t rows, int64_t k, const float* weights, const float* bias,
                          int64_t columns, float* y);

// What dense weights are kept as.
enum class DenseDtype {
  kBf16,
  kInt8,  // 32 values of k share a scale (Int8PanelBlock): half the memory traffic
};

// The activations that products with such weights take where a model is run with `activations`: int8 meets
// int8, and bf16 weights meet bf16.
Activations DenseActivations(DenseDtype dtype, Activations activations);

// Weights in panels, packed once at load.
struct DenseWeights {
  PanelFormat format = PanelFormat::kBf16;
  int64_t columns = 0, k = 0;  // k is even
  Aligned<uint8_t> panels;
  Aligned<float> bias;  // a whole number of panels; zeros where the layer has none

  int64_t Panels() const { return PanelCount(columns); }
  int64_t Bytes() const { return panels.size() * static_cast<int64_t>(sizeof(*panels.data())); }
};
// `weights` row-major [columns, k]; `bias` empty or [columns].
DenseWeights PackDense(std::span<const Bf16> weights, std::span<const float> bias, int64_t columns, int64_t k,
                       DenseDtype dtype = DenseDtype::kBf16);

enum class Store { kSet, kAdd };

// The first `count` rows.
struct DenseInput {
  const ActivationRows& rows;
  int64_t count;
};

// Panels [first, last) only, which is how threads and ranks share the work. An output is the same number
// whatever the rows and panels beside it.
void DenseMatmul(const DenseWeights& weights, const DenseInput& input, int64_t first, int64_t last,
                 Store store, float* y, int64_t y_stride);

}  // namespace assay::kernels
