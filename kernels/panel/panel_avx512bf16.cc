// The bf16 dot product of AVX-512, which Highway 1.0.3 does not reach. Compiled for this file only and chosen
// at run time.
#include <cstring>

#include "kernels/panel/panel.h"
#include "kernels/unroll.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")
#endif

namespace assay::kernels {
namespace {

// kRows x kPanels panels; each output is one chain of dot products in ascending k.
template <int kRows, int kPanels, int kTerms>
void Tile(const Bf16* panels, int64_t k, const Bf16* const* rows, float* out, int64_t out_stride) {
  constexpr int kVectors = 2 * kPanels;
  __m512 sums[kRows][kVectors];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm512_setzero_ps();
  }
  const int64_t panel_elements = PanelElements(k);
  for (int64_t i = 0; i < k; i += 2) {
    __m512bh weights[kVectors];
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      const Bf16* at = panels + v / 2 * panel_elements + i * kPanel + v % 2 * kPanel;
      weights[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(at));
    }
    ASSAY_UNROLL for (int term = 0; term < kTerms; ++term) {
      ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
        int32_t pair;
        std::memcpy(&pair, rows[r] + term * k + i, sizeof(pair));
        const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
        ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
          sums[r][v] = _mm512_dpbf16_ps(sums[r][v], weights[v], x);
        }
      }
    }
  }
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(out + r * out_stride + v * 16, sums[r][v]);
    }
  }
}

// As many rows as fill the registers at one panel; single rows take four panels, for as many chains.
template <int kTerms>
void Walk(const Panels& panels, const PanelRows& rows, float* out, int64_t out_stride) {
  int64_t r = 0;
  const auto sweep = [&](auto tile, int64_t first, int64_t width) {
    int64_t p = first;
    for (; p + width <= panels.count; p += width) {
      tile(panels.data + p * PanelElements(panels.k), panels.k, rows.rows + r,
           out + r * out_stride + p * kPanel, out_stride);
    }
    return p;
  };
  for (; r + 12 <= rows.count; r += 12) sweep(Tile<12, 1, kTerms>, 0, 1);
  for (; r + 6 <= rows.count; r += 6) sweep(Tile<6, 1, kTerms>, 0, 1);
  for (; r + 3 <= rows.count; r += 3) sweep(Tile<3, 1, kTerms>, sweep(Tile<3, 2, kTerms>, 0, 2), 1);
  for (; r < rows.count; ++r) sweep(Tile<1, 1, kTerms>, sweep(Tile<1, 4, kTerms>, 0, 4), 1);
}

void Multiply(const Panels& panels, const PanelRows& rows, float* out, int64_t out_stride) {
  (rows.terms == 1 ? Walk<1> : Walk<2>)(panels, rows, out, out_stride);
}

}  // namespace

PanelFunction Avx512Bf16PanelMatmul() {
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") ? Multiply : nullptr;
}

}  // namespace assay::kernels

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace assay::kernels {
PanelFunction Avx512Bf16PanelMatmul() {
  return nullptr;
}
}  // namespace assay::kernels

#endif
