#pragma once

#include <cstdint>

#include "kernels/bf16/bf16.h"

namespace assay::kernels {

// A panel holds 32 output columns of a weight matrix, pairs of K values interleaved as the bf16 dot product
// instructions want them: element (k, n) of panel[k / 2][n][k % 2]. Every matrix product of the CPU backend
// is a loop over panels.
constexpr int64_t kPanel = 32;

inline int64_t PanelCount(int64_t columns) {
  return (columns + kPanel - 1) / kPanel;
}
inline int64_t PanelElements(int64_t k) {
  return k * kPanel;
}

// out[r * out_stride + p * 32 + n] = sum over k of rows[r][k] * panel_p(k, n), for `count` panels that lie
// one after the other. k is even.
//
// Each output is one chain of additions in ascending k, whatever the number of rows and panels: this is what
// makes a token's result independent of its batch.
void PanelMatmul(const Bf16* panels, int64_t count, int64_t k, const Bf16* const* rows, int64_t n_rows,
                 float* out, int64_t out_stride);

// Row-major [columns, k] bf16 weights to PanelCount(columns) panels; missing columns become zero.
void PackPanels(const Bf16* weights, int64_t columns, int64_t k, Bf16* panels);

// What PanelMatmul chooses from. The second is nullptr on a machine without AVX-512 BF16.
using PanelFunction = void (*)(const Bf16*, int64_t, int64_t, const Bf16* const*, int64_t, float*, int64_t);
PanelFunction PortablePanelMatmul();
PanelFunction Avx512Bf16PanelMatmul();

}  // namespace assay::kernels
