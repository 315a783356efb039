// Int8 rows on AVX-512 VNNI: dot products of four unsigned by four signed bytes, added to int32. Compiled for
// this file only and chosen at run time.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/ahead.h"
#include "kernels/panel/paths.h"
#include "kernels/unroll.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's own header (its bug 105593)
#endif
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")
#endif

namespace assay::kernels {
namespace {

constexpr int kTileRows = 6;
constexpr int64_t kChunk = 8;  // blocks that stay in the first-level cache when opened

inline int32_t Four(const void* bytes) {
  int32_t four;
  std::memcpy(&four, bytes, sizeof(four));
  return four;
}

// Weights enter as unsigned bytes, `kOffset` above their value; that many times the sum of the activations is
// taken off a block's sum. MXFP4 elements are doubled, so their scales are halved.

inline __m512 HalfScales(const uint8_t* bytes) {
  const __m512i exponents = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)));
  __m512i bits = _mm512_slli_epi32(exponents, 23);
  bits = _mm512_max_epi32(bits, _mm512_set1_epi32(0x00400000));  // byte 0 is 2^-127
  const __mmask16 nan = _mm512_cmpeq_epi32_mask(exponents, _mm512_set1_epi32(255));
  bits = _mm512_mask_set1_epi32(bits, nan, 0x7FC00000);
  return _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(0.5f));
}

// Where a tile's weights come from: MXFP4 straight from the packed block, or opened once for many rows.
struct Packed {
  static constexpr int16_t kOffset = 12;
  const Mxfp4PanelBlock* blocks;
  __m512i table, nibble;
  explicit Packed(const Mxfp4PanelBlock* from)
      : blocks(from),
        table(
            _mm512_broadcast_i32x4(_mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0))),
        nibble(_mm512_set1_epi8(15)) {}
  // Values of k [8 row, 8 row + 4) and of the next four.
  void Get(int64_t block, int row, int64_t column, __m512i& first, __m512i& second) const {
    const __m512i both = _mm512_loadu_si512(blocks[block].nibbles[row][column]);
    first = _mm512_shuffle_epi8(table, _mm512_and_si512(both, nibble));
    second = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(both, 4), nibble));
  }
  __m512 Scales(int64_t block, int64_t column) const { return HalfScales(blocks[block].scales + column); }
};
struct OpenedBlock {
  float scales[kPanel];
  uint8_t values[8][kPanel][4];
};
struct Opened {
  static constexpr int16_t kOffset = Packed::kOffset;
  const OpenedBlock* blocks;
  void Get(int64_t block, int row, int64_t column, __m512i& first, __m512i& second) const {
    first = _mm512_loadu_si512(blocks[block].values[2 * row][column]);
    second = _mm512_loadu_si512(blocks[block].values[2 * row + 1][column]);
  }
  __m512 Scales(int64_t block, int64_t column) const {
    return _mm512_loadu_ps(blocks[block].scales + column);
  }
};
struct Int8Weights {
  static constexpr int16_t kOffset = 128;
  const Int8PanelBlock* blocks;
  void Get(int64_t block, int row, int64_t column, __m512i& first, __m512i& second) const {
    const __m512i sign = _mm512_set1_epi8(-128);
    first = _mm512_xor_si512(_mm512_loadu_si512(blocks[block].values[2 * row][column]), sign);
    second = _mm512_xor_si512(_mm512_loadu_si512(blocks[block].values[2 * row + 1][column]), sign);
  }
  __m512 Scales(int64_t block, int64_t column) const {
    const __m256i halves =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(blocks[block].scales + column));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
  }
};

void Open(const Mxfp4PanelBlock* from, int64_t count, OpenedBlock* to) {
  const Packed packed(from);
  for (int64_t b = 0; b < count; ++b) {
    for (int64_t column = 0; column < kPanel; column += 16) {
      for (int row = 0; row < 4; ++row) {
        __m512i first, second;
        packed.Get(b, row, column, first, second);
        _mm512_storeu_si512(to[b].values[2 * row][column], first);
        _mm512_storeu_si512(to[b].values[2 * row + 1][column], second);
      }
      _mm512_storeu_ps(to[b].scales + column, packed.Scales(b, column));
    }
  }
}

// The chunk of weights behind the current one, a little at every block of every tile.
template <class Block>
Ahead NextChunk(const Block* chunk, int64_t count, int64_t rows) {
  return {chunk + kChunk, kChunk * static_cast<int64_t>(sizeof(Block)),
          (rows + kTileRows - 1) / kTileRows * count};
}

// `count` blocks by kRows rows, whose blocks from `first` on they meet; each output is one chain of blocks.
template <int kRows, class Weights>
void Tile(const Weights& weights, int64_t first, int64_t count, const uint8_t* const* rows, Ahead& ahead,
          float* out) {
  const Int8Block* x[kRows];
  __m512 chains[kRows][2];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    x[r] = reinterpret_cast<const Int8Block*>(rows[r]) + first;
    ASSAY_UNROLL for (int v = 0; v < 2; ++v) chains[r][v] = _mm512_loadu_ps(out + r * kPanel + v * 16);
  }
  const __m512i minus_offset = _mm512_set1_epi16(static_cast<int16_t>(-Weights::kOffset));
  for (int64_t b = 0; b < count; ++b) {
    ahead.Step();
    __m512i sums[kRows][2];
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      sums[r][0] = sums[r][1] = _mm512_madd_epi16(_mm512_set1_epi32(Four(x[r][b].sums)), minus_offset);
    }
    ASSAY_UNROLL for (int row = 0; row < 4; ++row) {
      __m512i low[2], high[2];
      ASSAY_UNROLL for (int v = 0; v < 2; ++v) weights.Get(b, row, v * 16, low[v], high[v]);
      ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
        const int8_t* values = x[r][b].values + 8 * row;
        const __m512i x0 = _mm512_set1_epi32(Four(values)), x1 = _mm512_set1_epi32(Four(values + 4));
        ASSAY_UNROLL for (int v = 0; v < 2; ++v) {
          sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], low[v], x0);
          sums[r][v] = _mm512_dpbusd_epi32(sums[r][v], high[v], x1);
        }
      }
    }
    ASSAY_UNROLL for (int v = 0; v < 2; ++v) {
      const __m512 scales = weights.Scales(b, v * 16);
      ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
        const __m512 scale = _mm512_mul_ps(scales, _mm512_set1_ps(x[r][b].scale));
        chains[r][v] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[r][v]), scale, chains[r][v]);
      }
    }
  }
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < 2; ++v) _mm512_storeu_ps(out + r * kPanel + v * 16, chains[r][v]);
  }
}

template <class Weights>
void AddRows(const Weights& weights, int64_t first, int64_t count, const PanelRows& rows, Ahead ahead,
             float* out) {
  for (int64_t r = 0; r < rows.count; r += kTileRows, out += kTileRows * kPanel) {
    const uint8_t* const* x = rows.rows + r;
    switch (std::min<int64_t>(kTileRows, rows.count - r)) {
      case 1:
        Tile<1>(weights, first, count, x, ahead, out);
        break;
      case 2:
        Tile<2>(weights, first, count, x, ahead, out);
        break;
      case 3:
        Tile<3>(weights, first, count, x, ahead, out);
        break;
      case 4:
        Tile<4>(weights, first, count, x, ahead, out);
        break;
      case 5:
        Tile<5>(weights, first, count, x, ahead, out);
        break;
      default:
        Tile<kTileRows>(weights, first, count, x, ahead, out);
        break;
    }
  }
}

}  // namespace

void Mxfp4ByInt8Avx512(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
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

void Int8ByInt8Avx512(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  std::fill(out, out + rows.count * kPanel, 0.0f);
  const auto* blocks = reinterpret_cast<const Int8PanelBlock*>(panel);
  for (int64_t first = 0; first < Int8Blocks(k); first += kChunk) {
    const int64_t count = std::min(kChunk, Int8Blocks(k) - first);
    const Ahead ahead = NextChunk(blocks + first, count, rows.count);
    AddRows(Int8Weights{blocks + first}, first, count, rows, ahead, out);
  }
}

bool HasAvx512Vnni() {
  return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace assay::kernels

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

namespace assay::kernels {

bool HasAvx512Vnni() {
  return false;
}
void Int8ByInt8Avx512(const uint8_t*, int64_t, const PanelRows&, float*) {
  CHECK(false);
}
void Mxfp4ByInt8Avx512(const uint8_t*, int64_t, const PanelRows&, float*) {
  CHECK(false);
}

}  // namespace assay::kernels

#endif
