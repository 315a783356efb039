#pragma once

#include <cstdint>

#include "kernels/bf16/bf16.h"

namespace assay::kernels {

// A panel holds 32 output columns of a weight matrix, pairs of K values interleaved as the bf16 dot product
// instructions want them: element (k, n) is panel[k / 2][n][k % 2]. Every matrix product of the CPU backend
// is a loop over panels.
constexpr int64_t kPanel = 32;

inline int64_t PanelCount(int64_t columns) {
  return (columns + kPanel - 1) / kPanel;
}
inline int64_t PanelElements(int64_t k) {
  return k * kPanel;
}

// `count` panels that lie one after the other, each k x 32; k is even.
struct Panels {
  const Bf16* data;
  int64_t count, k;
};
// Rows of `terms` (1 or 2) * k numbers, as SplitToBf16 leaves them.
struct PanelRows {
  const Bf16* const* rows;
  int64_t count, terms;
};

// out[r * out_stride + p * 32 + n] = sum over k and terms of rows[r][term * K + k] * panel_p(k, n).
//
// Each output is one chain of additions in ascending k, whatever the number of rows and panels: this is what
// makes a token's result independent of its batch.
void PanelMatmul(const Panels& panels, const PanelRows& rows, float* out, int64_t out_stride);

// Row-major [columns, k] bf16 weights to PanelCount(columns) panels; missing columns become zero.
void PackPanels(const Bf16* weights, int64_t columns, int64_t k, Bf16* panels);

// What PanelMatmul chooses from. The second is nullptr on a machine without AVX-512 BF16.
using PanelFunction = void (*)(const Panels& panels, const PanelRows& rows, float* out, int64_t out_stride);
PanelFunction PortablePanelMatmul();
PanelFunction Avx512Bf16PanelMatmul();

}  // namespace assay::kernels
