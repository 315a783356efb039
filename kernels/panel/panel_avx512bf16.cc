// The bf16 dot product of AVX-512, which Highway 1.0.3 does not reach. Compiled for this file only and chosen
// at run time.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstring>

#include "kernels/panel/panel.h"
#include "kernels/unroll.h"

#if defined(__x86_64__)

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
template <int kRows, int kPanels>
inline void Tile(const Bf16* panels, int64_t k, const Bf16* const* rows, float* out, int64_t out_stride) {
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
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      int32_t pair;
      std::memcpy(&pair, rows[r] + i, sizeof(pair));
      const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
      ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = _mm512_dpbf16_ps(sums[r][v], weights[v], x);
      }
    }
  }
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(out + r * out_stride + v * 16, sums[r][v]);
    }
  }
}

void Panels(const Bf16* panels, int64_t count, int64_t k, const Bf16* const* rows, int64_t n_rows, float* out,
            int64_t out_stride) {
  const int64_t step = PanelElements(k);
  int64_t r = 0;
  const auto walk = [&](auto tile, int64_t p, int64_t width) {
    tile(panels + p * step, k, rows + r, out + r * out_stride + p * kPanel, out_stride);
    return p + width;
  };
  for (; r + 12 <= n_rows; r += 12) {
    for (int64_t p = 0; p < count;) p = walk(Tile<12, 1>, p, 1);
  }
  if (r + 8 <= n_rows) {
    for (int64_t p = 0; p < count;) p = walk(Tile<8, 1>, p, 1);
    r += 8;
  }
  if (r + 4 <= n_rows) {
    for (int64_t p = 0; p < count;) p = walk(Tile<4, 1>, p, 1);
    r += 4;
  }
  for (; r < n_rows; ++r) {
    int64_t p = 0;
    while (p + 4 <= count) p = walk(Tile<1, 4>, p, 4);
    while (p < count) p = walk(Tile<1, 1>, p, 1);
  }
}

}  // namespace

PanelFunction Avx512Bf16PanelMatmul() {
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") ? Panels : nullptr;
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
