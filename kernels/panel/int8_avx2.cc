// Int8 rows on AVX2, whose only product of bytes is unsigned by signed (maddubs), two products to a
// saturating int16. Compiled for this file only and chosen at run time.
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
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

namespace assay::kernels {
namespace {

constexpr int kTileRows = 4;
constexpr int64_t kChunk = 8;  // blocks that stay in the first-level cache when opened

inline __m256i Load(const void* from) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
inline __m256i BroadcastFour(const void* bytes) {
  int32_t four;
  std::memcpy(&four, bytes, sizeof(four));
  return _mm256_set1_epi32(four);
}

// The chunk of weights behind the current one, a little at every block of every tile.
template <class Block>
Ahead NextChunk(const Block* chunk, int64_t count, int64_t rows) {
  return {chunk + kChunk, kChunk * static_cast<int64_t>(sizeof(Block)),
          (rows + kTileRows - 1) / kTileRows * count};
}

// Compilers like to add up a block's products as a tree, which takes more registers than there are; a chain
// that they cannot look through takes one.
inline void KeepChain(__m256i& sum) {
  asm("" : "+x"(sum));
}

// MXFP4 elements enter as 2 * element + 12, from 0 to 24: a block's 32 products by int8 then need no more
// than int16, once 12 times the sum of the activations is taken off. Additions may wrap on the way there: the
// true sum of a lane's 16 products is at most 12 * 127 * 16 = 24384.
constexpr int16_t kOffset = 12;

// Half the scale of eight columns, because elements enter doubled.
inline __m256 HalfScales(const uint8_t* bytes) {
  const __m256i exponents = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
  const __m256i infinity = _mm256_set1_epi32(0x7F800000);
  __m256i bits = _mm256_slli_epi32(exponents, 23);
  bits = _mm256_max_epi32(bits, _mm256_set1_epi32(0x00400000));      // byte 0 is 2^-127
  bits = _mm256_or_si256(bits, _mm256_cmpeq_epi32(bits, infinity));  // byte 255 is NaN
  return _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(0.5f));
}

// Where a tile's MXFP4 weights come from: straight from the packed block, or opened once for many rows.
struct Packed {
  const Mxfp4PanelBlock* blocks;
  __m256i table, nibble;
  explicit Packed(const Mxfp4PanelBlock* from)
      : blocks(from),
        table(_mm256_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0, 12, 13, 14, 15, 16,
                               18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0)),
        nibble(_mm256_set1_epi8(15)) {}
  // Values of k [4 four, 4 four + 4).
  __m256i Get(int64_t block, int four, int64_t column) const {
    const __m256i both = Load(blocks[block].nibbles[four / 2][column]);
    const __m256i elements = four % 2 == 0 ? both : _mm256_srli_epi16(both, 4);
    return _mm256_shuffle_epi8(table, _mm256_and_si256(elements, nibble));
  }
  __m256 Scales(int64_t block, int64_t column) const { return HalfScales(blocks[block].scales + column); }
};
struct OpenedBlock {
  float scales[kPanel];
  uint8_t values[8][kPanel][4];
};
struct Opened {
  const OpenedBlock* blocks;
  __m256i Get(int64_t block, int four, int64_t column) const {
    return Load(blocks[block].values[four][column]);
  }
  __m256 Scales(int64_t block, int64_t column) const {
    return _mm256_loadu_ps(blocks[block].scales + column);
  }
};

void Open(const Mxfp4PanelBlock* from, int64_t count, OpenedBlock* to) {
  const Packed packed(from);
  for (int64_t b = 0; b < count; ++b) {
    for (int64_t column = 0; column < kPanel; column += 8) {
      ASSAY_UNROLL for (int four = 0; four < 8; ++four) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to[b].values[four][column]),
                            packed.Get(b, four, column));
      }
      _mm256_storeu_ps(to[b].scales + column, packed.Scales(b, column));
    }
  }
}

// out += sums * scales * scale of x: a link of each output's chain.
inline void AddLink(__m256i sums, __m256 scales, float x_scale, float* out) {
  const __m256 scale = _mm256_mul_ps(scales, _mm256_set1_ps(x_scale));
  _mm256_storeu_ps(out, _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), scale, _mm256_loadu_ps(out)));
}

// One block of MXFP4 by kRows blocks of x, kVectors * 8 columns from `column` on.
template <int kRows, int kVectors, class Weights>
inline void AddBlock(const Weights& weights, int64_t block, int64_t column, const Int8Block* const* x,
                     float* out) {
  __m256i minus_offset = _mm256_set1_epi16(-kOffset);
  KeepChain(minus_offset);  // a multiplication is faster than the shifts and additions it could be made of
  __m256i sums[kRows][kVectors];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    sums[r][0] = _mm256_mullo_epi16(BroadcastFour(x[r]->sums), minus_offset);
    ASSAY_UNROLL for (int v = 1; v < kVectors; ++v) sums[r][v] = sums[r][0];
  }
  ASSAY_UNROLL for (int four = 0; four < 8; ++four) {
    __m256i w[kVectors];
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) w[v] = weights.Get(block, four, column + v * 8);
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      const __m256i values = BroadcastFour(x[r]->values + 4 * four);
      ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = _mm256_add_epi16(sums[r][v], _mm256_maddubs_epi16(w[v], values));
        KeepChain(sums[r][v]);
      }
    }
  }
  const __m256i ones = _mm256_set1_epi16(1);
  ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
    const __m256 scales = weights.Scales(block, column + v * 8);
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      AddLink(_mm256_madd_epi16(sums[r][v], ones), scales, x[r]->scale, out + r * kPanel + column + v * 8);
    }
  }
}

// The same of int8 weights: |w| by x with the sign of w, at most 2 * 127 * 127 in an int16.
struct Int8Weights {
  const Int8PanelBlock* blocks;
};
template <int kRows, int kVectors>
inline void AddBlock(const Int8Weights& weights, int64_t block, int64_t column, const Int8Block* const* x,
                     float* out) {
  const Int8PanelBlock& from = weights.blocks[block];
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[kRows][kVectors];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = _mm256_setzero_si256();
  }
  ASSAY_UNROLL for (int four = 0; four < 8; ++four) {
    __m256i w[kVectors], magnitudes[kVectors];
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      w[v] = Load(from.values[four][column + v * 8]);
      magnitudes[v] = _mm256_abs_epi8(w[v]);
    }
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      const __m256i values = BroadcastFour(x[r]->values + 4 * four);
      ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
        const __m256i pairs = _mm256_maddubs_epi16(magnitudes[v], _mm256_sign_epi8(values, w[v]));
        sums[r][v] = _mm256_add_epi32(sums[r][v], _mm256_madd_epi16(pairs, ones));
        KeepChain(sums[r][v]);
      }
    }
  }
  ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from.scales + column + v * 8));
    const __m256 scales = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      AddLink(sums[r][v], scales, x[r]->scale, out + r * kPanel + column + v * 8);
    }
  }
}

// `count` blocks by kRows rows, whose blocks from `first` on they meet; the chains are `out`.
template <int kRows, class Weights>
void Tile(const Weights& weights, int64_t first, int64_t count, const uint8_t* const* rows, Ahead& ahead,
          float* out) {
  constexpr int kVectors = kRows <= 2 ? 4 : 2;
  const Int8Block* x[kRows];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) x[r] = reinterpret_cast<const Int8Block*>(rows[r]) + first;
  for (int64_t b = 0; b < count; ++b) {
    ahead.Step();
    ASSAY_UNROLL for (int column = 0; column < kPanel; column += kVectors * 8) {
      AddBlock<kRows, kVectors>(weights, b, column, x, out);
    }
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r)++ x[r];
  }
}

// `count` blocks by all rows.
template <class Weights>
void AddRows(const Weights& weights, int64_t first, int64_t count, const PanelRows& rows, Ahead ahead,
             float* out) {
  for (int64_t r = 0; r < rows.count; r += kTileRows, out += kTileRows * kPanel) {
    const uint8_t* const* x = rows.rows + r;
    switch (rows.count - r) {
      case 1:
        Tile<1>(weights, first, count, x, ahead, out);
        break;
      case 2:
        Tile<2>(weights, first, count, x, ahead, out);
        break;
      case 3:
        Tile<3>(weights, first, count, x, ahead, out);
        break;
      default:
        Tile<kTileRows>(weights, first, count, x, ahead, out);
        break;
    }
  }
}

}  // namespace

void Mxfp4ByInt8Avx2(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  std::fill(out, out + rows.count * kPanel, 0.0f);
  const auto* blocks = reinterpret_cast<const Mxfp4PanelBlock*>(panel);
  alignas(64) OpenedBlock opened[kChunk];
  for (int64_t first = 0; first < k / kMxBlock; first += kChunk) {
    const int64_t count = std::min(kChunk, k / kMxBlock - first);
    const Ahead ahead = NextChunk(blocks + first, count, rows.count);
    if (rows.count <= kTileRows) {
      AddRows(Packed(blocks + first), first, count, rows, ahead, out);
    } else {
      Open(blocks + first, count, opened);
      AddRows(Opened{opened}, first, count, rows, ahead, out);
    }
  }
}

void Int8ByInt8Avx2(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  std::fill(out, out + rows.count * kPanel, 0.0f);
  const auto* blocks = reinterpret_cast<const Int8PanelBlock*>(panel);
  for (int64_t first = 0; first < Int8Blocks(k); first += kChunk) {
    const int64_t count = std::min(kChunk, Int8Blocks(k) - first);
    const Ahead ahead = NextChunk(blocks + first, count, rows.count);
    AddRows(Int8Weights{blocks + first}, first, count, rows, ahead, out);
  }
}

bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

}  // namespace assay::kernels

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace assay::kernels {

bool HasAvx2() {
  return false;
}
void Int8ByInt8Avx2(const uint8_t*, int64_t, const PanelRows&, float*) {
  CHECK(false);
}
void Mxfp4ByInt8Avx2(const uint8_t*, int64_t, const PanelRows&, float*) {
  CHECK(false);
}

}  // namespace assay::kernels

#endif
