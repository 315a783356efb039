// Rows of float32, for CPUs without a bf16 dot product: one fused multiply-add an element of k, whether the
// activation is one term of bf16 or the sum of two. An output is a chain over blocks of 32 k: the block's own
// chain times its scale, which is one for bf16 weights.
#include <algorithm>

#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/ahead.h"
#include "kernels/panel/paths.h"
#include "kernels/simd.h"
#include "kernels/unroll.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel/float_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target first.
#include <hwy/highway.h>

#include "kernels/mxfp4/open-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kTileRows = 6;    // by two vectors, 12 chains: they hide the latency of a multiply-add
constexpr int64_t kChunk = 4;   // blocks whose 32 columns stay in the first-level cache as float32
constexpr int64_t kPairs = 16;  // of k in a block

// Vectors of columns in a tile; a row or two need more of them for as many chains.
constexpr int Vectors(int rows) {
  return std::min(rows <= 2 ? 4 : 2, static_cast<int>(kPanel) / kLanes);
}

// Where a tile's weights come from, as the even and the odd k of a pair: bf16 from the panel, or either
// format opened for many rows.
struct Bf16Weights {
  const uint32_t* at;  // [k / 2][32] pairs
  HWY_INLINE hn::Vec<D> Even(int64_t pair, int64_t column) const {
    return hn::BitCast(D(), hn::ShiftLeft<16>(hn::LoadU(DU(), at + pair * kPanel + column)));
  }
  HWY_INLINE hn::Vec<D> Odd(int64_t pair, int64_t column) const {
    const auto both = hn::LoadU(DU(), at + pair * kPanel + column);
    return hn::BitCast(D(), hn::And(both, hn::Set(DU(), 0xFFFF0000u)));
  }
  HWY_INLINE hn::Vec<D> Scales(int64_t, int64_t) const { return hn::Set(D(), 1.0f); }
};
struct WideWeights {
  const float* at;      // [k][32]
  const float* scales;  // [block][32]
  HWY_INLINE hn::Vec<D> Even(int64_t pair, int64_t column) const {
    return hn::LoadU(D(), at + pair * 2 * kPanel + column);
  }
  HWY_INLINE hn::Vec<D> Odd(int64_t pair, int64_t column) const { return Even(pair, column + kPanel); }
  HWY_INLINE hn::Vec<D> Scales(int64_t block, int64_t column) const {
    return hn::LoadU(D(), scales + block * kPanel + column);
  }
};

// The products of a block's first `pairs` pairs.
template <int kRows, int kVectors, class Weights>
HWY_INLINE void AddProducts(const Weights& weights, int64_t block, int64_t pairs, int64_t column,
                            const float* const* x, hn::Vec<D> (&sums)[kRows][kVectors]) {
  const auto add = [&](const hn::Vec<D>* w, int64_t k) HWY_ATTR {
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      const auto activation = hn::Set(D(), x[r][block * kMxBlock + k]);
      ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(w[v], activation, sums[r][v]);
    }
  };
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t at = block * kPairs + pair;
    hn::Vec<D> w[kVectors];
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) w[v] = weights.Even(at, column + v * kLanes);
    add(w, 2 * pair);
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) w[v] = weights.Odd(at, column + v * kLanes);
    add(w, 2 * pair + 1);
  }
}

#if HWY_TARGET != HWY_SCALAR
constexpr int64_t kDirectRows = 4;  // MXFP4 is opened in registers for up to so many rows

struct Mxfp4Weights {
  const Mxfp4PanelBlock* blocks;
  Opener opener;
  HWY_INLINE hn::Vec<D> Scales(int64_t block, int64_t column) const {
    return kernels::HWY_NAMESPACE::Scales(DU(), blocks[block].scales + column);
  }
};
template <int kRows, int kVectors>
HWY_INLINE void AddProducts(const Mxfp4Weights& weights, int64_t block, int64_t, int64_t column,
                            const float* const* x, hn::Vec<D> (&sums)[kRows][kVectors]) {
  const auto upper_half = hn::Set(DU(), 0xFFFF0000u);
  for (int64_t row = 0; row < 4; ++row) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      const uint8_t* nibbles = weights.blocks[block].nibbles[row][column + v * kLanes];
      hn::Vec<DU> pairs[4];
      weights.opener.Open(hn::LoadU(DU(), reinterpret_cast<const uint32_t*>(nibbles)), pairs);
      ASSAY_UNROLL for (int pair = 0; pair < 4; ++pair) {
        const auto even = hn::BitCast(D(), hn::ShiftLeft<16>(pairs[pair]));
        const auto odd = hn::BitCast(D(), hn::And(pairs[pair], upper_half));
        ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
          const float* at = x[r] + block * kMxBlock + row * 8 + pair * 2;
          sums[r][v] = hn::MulAdd(even, hn::Set(D(), at[0]), sums[r][v]);
          sums[r][v] = hn::MulAdd(odd, hn::Set(D(), at[1]), sums[r][v]);
        }
      }
    }
  }
}
#endif

// Weights of k in [first, first + count) by some rows, added to the chains in `out`.
struct Step {
  int64_t first, count;
  const uint8_t* const* rows;
  float* out;  // [rows, 32]
};

template <int kRows, class Weights>
HWY_INLINE void Tile(const Weights& weights, const Step& step, Ahead& ahead) {
  constexpr int kVectors = Vectors(kRows);
  const D df;
  const float* x[kRows];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    x[r] = reinterpret_cast<const float*>(step.rows[r]) + step.first;
  }
  for (int64_t block = 0; block * kMxBlock < step.count; ++block) {
    ahead.Step();
    const int64_t pairs = std::min(kPairs, step.count / 2 - block * kPairs);
    for (int64_t column = 0; column < kPanel; column += kVectors * kLanes) {
      hn::Vec<D> sums[kRows][kVectors];
      ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
        ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(df);
      }
      AddProducts(weights, block, pairs, column, x, sums);
      ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
        const auto scales = weights.Scales(block, column + v * kLanes);
        ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
          float* chain = step.out + r * kPanel + column + v * kLanes;
          hn::StoreU(hn::MulAdd(sums[r][v], scales, hn::LoadU(df, chain)), df, chain);
        }
      }
    }
  }
}

// All rows in tiles of nearly the same number; `ahead` goes one step a tile and block.
int64_t Tiles(int64_t rows) {
  return (rows + kTileRows - 1) / kTileRows;
}
template <class Weights>
void AddRows(const Weights& weights, Step step, int64_t rows, Ahead ahead) {
  for (int64_t tiles = Tiles(rows); tiles > 0; --tiles) {
    const int64_t n = (rows + tiles - 1) / tiles;
    switch (n) {
      case 1:
        Tile<1>(weights, step, ahead);
        break;
      case 2:
        Tile<2>(weights, step, ahead);
        break;
      case 3:
        Tile<3>(weights, step, ahead);
        break;
      case 4:
        Tile<4>(weights, step, ahead);
        break;
      case 5:
        Tile<5>(weights, step, ahead);
        break;
      default:
        Tile<kTileRows>(weights, step, ahead);
        break;
    }
    rows -= n;
    step.rows += n;
    step.out += n * kPanel;
  }
}

void WidenPairs(const uint32_t* pairs, int64_t count, float* out) {
  const Bf16Weights weights{pairs};
  for (int64_t pair = 0; pair < count; ++pair, out += 2 * kPanel) {
    for (int64_t column = 0; column < kPanel; column += kLanes) {
      hn::StoreU(weights.Even(pair, column), D(), out + column);
      hn::StoreU(weights.Odd(pair, column), D(), out + kPanel + column);
    }
  }
}

void MultiplyBf16(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  alignas(64) float wide[kChunk * kMxBlock * kPanel], ones[kChunk * kPanel];
  std::fill(out, out + rows.count * kPanel, 0.0f);
  std::fill(std::begin(ones), std::end(ones), 1.0f);
  for (int64_t first = 0; first < k; first += kChunk * kMxBlock) {
    const Step step{first, std::min(kChunk * kMxBlock, k - first), rows.rows, out};
    const uint32_t* pairs = reinterpret_cast<const uint32_t*>(panel) + first / 2 * kPanel;
    const int64_t bytes = step.count * kPanel * 2;
    const Ahead ahead(pairs + step.count / 2 * kPanel, bytes, Tiles(rows.count) * kChunk);
    if (rows.count <= kTileRows) {
      AddRows(Bf16Weights{pairs}, step, rows.count, ahead);
    } else {
      WidenPairs(pairs, step.count / 2, wide);
      AddRows(WideWeights{wide, ones}, step, rows.count, ahead);
    }
  }
}

void MultiplyMxfp4(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  alignas(64) float wide[kChunk * kMxBlock * kPanel], scales[kChunk * kPanel];
  std::fill(out, out + rows.count * kPanel, 0.0f);
  for (int64_t first = 0; first < k; first += kChunk * kMxBlock) {
    const Step step{first, std::min(kChunk * kMxBlock, k - first), rows.rows, out};
    const auto* blocks = reinterpret_cast<const Mxfp4PanelBlock*>(panel) + first / kMxBlock;
    const int64_t count = step.count / kMxBlock;
    const Ahead ahead(blocks + count, count * static_cast<int64_t>(sizeof(*blocks)),
                      Tiles(rows.count) * count);
#if HWY_TARGET != HWY_SCALAR
    if (rows.count <= kDirectRows) {
      AddRows(Mxfp4Weights{blocks, MakeOpener()}, step, rows.count, ahead);
      continue;
    }
#endif
    OpenMxfp4Panel(blocks, count, wide, scales);
    AddRows(WideWeights{wide, scales}, step, rows.count, ahead);
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(MultiplyBf16);
HWY_EXPORT(MultiplyMxfp4);
void Bf16ByFloat(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  HWY_DYNAMIC_DISPATCH(MultiplyBf16)(panel, k, rows, out);
}
void Mxfp4ByFloat(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  HWY_DYNAMIC_DISPATCH(MultiplyMxfp4)(panel, k, rows, out);
}

}  // namespace assay::kernels
#endif
