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
// By two vectors of columns: enough chains to hide the latency of a multiply-add, and with 32 registers twice
// as many, so that a load of weights serves more rows.
constexpr int kTileRows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;
constexpr int64_t kChunk = 4;   // blocks whose 32 columns stay in the first-level cache as float32
constexpr int64_t kPairs = 16;  // of k in a block

// Vectors of columns in a tile; a row or two need more of them for as many chains.
constexpr int Vectors(int rows) {
  return std::min(rows <= 2 ? 4 : 2, static_cast<int>(kPanel) / kLanes);
}

// Where a tile's weights come from, as the even and the odd k of a pair: bf16 from the panel, or either
// format opened for many rows.
struct Bf16Weights {
  static constexpr int BlocksAtOnce(int) { return 1; }
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
  static constexpr int BlocksAtOnce(int) { return 1; }
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
template <int kBlocks, int kRows, int kVectors, class Weights>
HWY_INLINE void AddProducts(const Weights& weights, int64_t block, int64_t pairs, int64_t column,
                            const float* const* x, hn::Vec<D> (&sums)[kBlocks][kRows][kVectors]) {
  static_assert(kBlocks == 1);
  const auto add = [&](const hn::Vec<D>* w, int64_t k) HWY_ATTR {
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      const auto activation = hn::Set(D(), x[r][block * kMxBlock + k]);
      ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) sums[0][r][v] =
          hn::MulAdd(w[v], activation, sums[0][r][v]);
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
  // A row or two are too few chains to hide the latency of a multiply-add.
  static constexpr int BlocksAtOnce(int rows) { return rows <= 2 && kLanes > 8 ? 2 : 1; }
  const Mxfp4PanelBlock* blocks;
  Opener opener;
  HWY_INLINE hn::Vec<D> Scales(int64_t block, int64_t column) const {
    return kernels::HWY_NAMESPACE::Scales(DU(), blocks[block].scales + column);
  }
};
template <int kBlocks, int kRows, int kVectors>
HWY_INLINE void AddProducts(const Mxfp4Weights& weights, int64_t block, int64_t, int64_t column,
                            const float* const* x, hn::Vec<D> (&sums)[kBlocks][kRows][kVectors]) {
  for (int64_t row = 0; row < 4; ++row) {
    ASSAY_UNROLL for (int b = 0; b < kBlocks; ++b) {
      ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
        const uint8_t* nibbles = weights.blocks[block + b].nibbles[row][column + v * kLanes];
        hn::Vec<D> eight[8];
        weights.opener.OpenWide(hn::LoadU(DU(), reinterpret_cast<const uint32_t*>(nibbles)), eight);
        ASSAY_UNROLL for (int i = 0; i < 8; ++i) {
          ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
            const auto activation = hn::Set(D(), x[r][(block + b) * kMxBlock + row * 8 + i]);
            sums[b][r][v] = hn::MulAdd(eight[i], activation, sums[b][r][v]);
          }
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

// The chains of kBlocks blocks, begun together and added to their outputs one after the other.
template <int kBlocks, int kRows, class Weights>
HWY_INLINE void AddBlocks(const Weights& weights, const Step& step, int64_t block, const float* const* x) {
  constexpr int kVectors = Vectors(kRows);
  const D df;
  const int64_t pairs = std::min(kPairs, step.count / 2 - block * kPairs);
  for (int64_t column = 0; column < kPanel; column += kVectors * kLanes) {
    hn::Vec<D> sums[kBlocks][kRows][kVectors];
    ASSAY_UNROLL for (int b = 0; b < kBlocks; ++b) {
      ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
        ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) sums[b][r][v] = hn::Zero(df);
      }
    }
    AddProducts(weights, block, pairs, column, x, sums);
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
        float* out = step.out + r * kPanel + column + v * kLanes;
        auto chain = hn::LoadU(df, out);
        ASSAY_UNROLL for (int b = 0; b < kBlocks; ++b) {
          chain = hn::MulAdd(sums[b][r][v], weights.Scales(block + b, column + v * kLanes), chain);
        }
        hn::StoreU(chain, df, out);
      }
    }
  }
}

template <int kRows, class Weights>
HWY_INLINE void Tile(const Weights& weights, const Step& step, Ahead& ahead) {
  constexpr int kBlocks = Weights::BlocksAtOnce(kRows);
  const float* x[kRows];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    x[r] = reinterpret_cast<const float*>(step.rows[r]) + step.first;
  }
  const int64_t blocks = (step.count + kMxBlock - 1) / kMxBlock;
  int64_t block = 0;
  for (; block + kBlocks <= blocks; block += kBlocks) {
    for (int b = 0; b < kBlocks; ++b) ahead.Step();
    AddBlocks<kBlocks, kRows>(weights, step, block, x);
  }
  for (; block < blocks; ++block) {
    ahead.Step();
    AddBlocks<1, kRows>(weights, step, block, x);
  }
}

// Tile<rows>.
template <int kRows, class Weights>
HWY_INLINE void TileOf(int64_t rows, const Weights& weights, const Step& step, Ahead& ahead) {
  if constexpr (kRows < kTileRows) {
    if (rows != kRows) return TileOf<kRows + 1>(rows, weights, step, ahead);
  }
  Tile<kRows>(weights, step, ahead);
}

// All rows in tiles of nearly the same number; `ahead` goes one step a tile and block.
int64_t Tiles(int64_t rows) {
  return (rows + kTileRows - 1) / kTileRows;
}
template <class Weights>
void AddRows(const Weights& weights, Step step, int64_t rows, Ahead ahead) {
  for (int64_t tiles = Tiles(rows); tiles > 0; --tiles) {
    const int64_t n = (rows + tiles - 1) / tiles;
    TileOf<1>(n, weights, step, ahead);
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
