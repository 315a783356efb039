// The bf16 dot product of AVX-512, which Highway 1.0.3 does not reach. Compiled for this file only and chosen
// at run time.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/ahead.h"
#include "kernels/panel/paths.h"
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

constexpr int64_t kChunk = 256;  // k whose 32 columns stay in the first-level cache as bf16

// Panel elements of k in [first, first + count) times those columns of some rows, added to out.
struct Step {
  const Bf16* weights;
  int64_t first, count, k;
  const uint8_t* const* rows;
  float* out;  // [rows, 32]
};

// Each output is one chain of dot products in ascending k.
template <int kRows, int kTerms>
void Tile(const Step& step, Ahead& ahead) {
  __m512 sums[kRows][2];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < 2; ++v) sums[r][v] = _mm512_loadu_ps(step.out + r * kPanel + v * 16);
  }
  for (int64_t i = 0; i < step.count; i += 2) {
    if (i % kMxBlock == 0) ahead.Step();
    __m512bh weights[2];
    ASSAY_UNROLL for (int v = 0; v < 2; ++v) {
      weights[v] = reinterpret_cast<__m512bh>(_mm512_loadu_si512(step.weights + i * kPanel + v * kPanel));
    }
    ASSAY_UNROLL for (int term = 0; term < kTerms; ++term) {
      ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
        int32_t pair;
        std::memcpy(&pair, step.rows[r] + (term * step.k + step.first + i) * 2, sizeof(pair));
        const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
        ASSAY_UNROLL for (int v = 0; v < 2; ++v) sums[r][v] = _mm512_dpbf16_ps(sums[r][v], weights[v], x);
      }
    }
  }
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < 2; ++v) _mm512_storeu_ps(step.out + r * kPanel + v * 16, sums[r][v]);
  }
}

template <int kRows, int kTerms>
int64_t Sweep(Step& step, int64_t count, Ahead& ahead) {
  for (; count >= kRows; count -= kRows, step.rows += kRows, step.out += kRows * kPanel) {
    Tile<kRows, kTerms>(step, ahead);
  }
  return count;
}

template <int kTerms>
void AddRows(Step step, int64_t count, Ahead& ahead) {
  count = Sweep<12, kTerms>(step, count, ahead);
  count = Sweep<6, kTerms>(step, count, ahead);
  count = Sweep<3, kTerms>(step, count, ahead);
  Sweep<1, kTerms>(step, count, ahead);
}

// `chunk` is where the step's weights lie in memory, in `bytes`; those behind them are next.
void Add(const Step& step, const PanelRows& rows, const uint8_t* chunk, int64_t bytes) {
  const int64_t tiles = rows.count / 12 + rows.count % 12 / 6 + rows.count % 6 / 3 + rows.count % 3;
  Ahead ahead(chunk + bytes, bytes, tiles * Int8Blocks(step.count));
  rows.terms == 1 ? AddRows<1>(step, rows.count, ahead) : AddRows<2>(step, rows.count, ahead);
}

}  // namespace

void Bf16ByBf16Avx512(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  std::fill(out, out + rows.count * kPanel, 0.0f);
  const auto* weights = reinterpret_cast<const Bf16*>(panel);
  for (int64_t first = 0; first < k; first += kChunk) {
    const int64_t count = std::min(kChunk, k - first);
    Add({weights + first * kPanel, first, count, k, rows.rows, out}, rows, panel + first * kPanel * 2,
        count * kPanel * 2);
  }
}

void Mxfp4ByBf16Avx512(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  alignas(64) Bf16 decoded[kChunk * kPanel];
  std::fill(out, out + rows.count * kPanel, 0.0f);
  const auto* blocks = reinterpret_cast<const Mxfp4PanelBlock*>(panel);
  for (int64_t first = 0; first < k; first += kChunk) {
    const int64_t count = std::min(kChunk, k - first);
    DecodeMxfp4Panel(blocks + first / kMxBlock, count / kMxBlock, decoded);
    Add({decoded, first, count, k, rows.rows, out}, rows, panel + Mxfp4PanelBytes(first),
        Mxfp4PanelBytes(count));
  }
}

bool HasBf16DotProduct() {
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw");
}

bool Bf16DotProductIsFast() {
  return HasBf16DotProduct() && !__builtin_cpu_is("intel");
}

}  // namespace assay::kernels

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace assay::kernels {

bool HasBf16DotProduct() {
  return false;
}
bool Bf16DotProductIsFast() {
  return false;
}
void Bf16ByBf16Avx512(const uint8_t*, int64_t, const PanelRows&, float*) {
  CHECK(false);
}
void Mxfp4ByBf16Avx512(const uint8_t*, int64_t, const PanelRows&, float*) {
  CHECK(false);
}

}  // namespace assay::kernels

#endif
