// Rows of float32, for CPUs without a bf16 dot product: one fused multiply-add an element of k, whether the
// activation is one term of bf16 or the sum of two.
#include <algorithm>

#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/paths.h"
#include "kernels/simd.h"
#include "kernels/unroll.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/panel/float_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, 16>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kVectors = kLanes == 1 ? 1 : 2;  // of one register tile
constexpr int kTileRows = 6;                   // 12 chains hide the latency of a multiply-add
constexpr int64_t kChunk = 128;                // k whose 32 columns stay in the first-level cache as float32

// Where a tile's weights come from, for each k a vector of columns.
struct FloatWeights {
  const float* at;  // [k][32]
  HWY_INLINE hn::Vec<D> Even(int64_t pair, int64_t column) const {
    return hn::LoadU(D(), at + pair * 2 * kPanel + column);
  }
  HWY_INLINE hn::Vec<D> Odd(int64_t pair, int64_t column) const {
    return hn::LoadU(D(), at + (pair * 2 + 1) * kPanel + column);
  }
};
struct Bf16Weights {
  const uint32_t* at;  // [k / 2][32] pairs
  HWY_INLINE hn::Vec<D> Even(int64_t pair, int64_t column) const {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(D(), hn::ShiftLeft<16>(hn::LoadU(du, at + pair * kPanel + column)));
  }
  HWY_INLINE hn::Vec<D> Odd(int64_t pair, int64_t column) const {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(D(), hn::And(hn::LoadU(du, at + pair * kPanel + column), hn::Set(du, 0xFFFF0000u)));
  }
};

// The weights of k in [first, first + count) times those columns of some rows, added to out.
template <class Weights>
struct Step {
  Weights weights;
  int64_t first, count;
  const uint8_t* const* rows;
  float* out;  // [rows, 32]
};

template <int kRows, class Weights>
HWY_INLINE void Tile(const Step<Weights>& step, int64_t column) {
  const D df;
  const float* x[kRows];
  hn::Vec<D> sums[kRows][kVectors];
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    x[r] = reinterpret_cast<const float*>(step.rows[r]) + step.first;
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = hn::LoadU(df, step.out + r * kPanel + column + v * kLanes);
    }
  }
  const auto add = [&](const hn::Vec<D>* weights, int64_t k) HWY_ATTR {
    ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
      const auto activation = hn::Set(df, x[r][k]);
      ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
        sums[r][v] = hn::MulAdd(weights[v], activation, sums[r][v]);
      }
    }
  };
  for (int64_t pair = 0; pair < step.count / 2; ++pair) {
    hn::Vec<D> weights[kVectors];
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) weights[v] = step.weights.Even(pair, column + v * kLanes);
    add(weights, 2 * pair);
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) weights[v] = step.weights.Odd(pair, column + v * kLanes);
    add(weights, 2 * pair + 1);
  }
  ASSAY_UNROLL for (int r = 0; r < kRows; ++r) {
    ASSAY_UNROLL for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], df, step.out + r * kPanel + column + v * kLanes);
    }
  }
}

template <class Weights>
void AddUpToSixRows(const Step<Weights>& step, int64_t count) {
  for (int64_t column = 0; column < kPanel; column += kVectors * kLanes) {
    switch (count) {
      case 1:
        Tile<1>(step, column);
        break;
      case 2:
        Tile<2>(step, column);
        break;
      case 3:
        Tile<3>(step, column);
        break;
      case 4:
        Tile<4>(step, column);
        break;
      case 5:
        Tile<5>(step, column);
        break;
      default:
        Tile<kTileRows>(step, column);
        break;
    }
  }
}

template <class Weights>
void AddRows(Step<Weights> step, int64_t count) {
  for (; count > 0; count -= kTileRows, step.rows += kTileRows, step.out += kTileRows * kPanel) {
    AddUpToSixRows(step, std::min<int64_t>(count, kTileRows));
  }
}

void WidenPairs(const uint32_t* pairs, int64_t count, float* out) {
  const D df;
  const Bf16Weights weights{pairs};
  for (int64_t pair = 0; pair < count; ++pair, out += 2 * kPanel) {
    for (int64_t column = 0; column < kPanel; column += kLanes) {
      hn::StoreU(weights.Even(pair, column), df, out + column);
      hn::StoreU(weights.Odd(pair, column), df, out + kPanel + column);
    }
  }
}

void MultiplyBf16(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  alignas(64) float wide[kChunk * kPanel];
  std::fill(out, out + rows.count * kPanel, 0.0f);
  const auto* pairs = reinterpret_cast<const uint32_t*>(panel);
  for (int64_t first = 0; first < k; first += kChunk, pairs += kChunk / 2 * kPanel) {
    const int64_t count = std::min(kChunk, k - first);
    if (rows.count <= kTileRows) {
      AddRows(Step<Bf16Weights>{{pairs}, first, count, rows.rows, out}, rows.count);
    } else {
      WidenPairs(pairs, count / 2, wide);
      AddRows(Step<FloatWeights>{{wide}, first, count, rows.rows, out}, rows.count);
    }
  }
}

void MultiplyMxfp4(const uint8_t* panel, int64_t k, const PanelRows& rows, float* out) {
  alignas(64) float wide[kChunk * kPanel];
  std::fill(out, out + rows.count * kPanel, 0.0f);
  const auto* blocks = reinterpret_cast<const Mxfp4PanelBlock*>(panel);
  for (int64_t first = 0; first < k; first += kChunk, blocks += kChunk / kMxBlock) {
    const int64_t count = std::min(kChunk, k - first);
    DecodeMxfp4Panel(blocks, count / kMxBlock, wide);
    AddRows(Step<FloatWeights>{{wide}, first, count, rows.rows, out}, rows.count);
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
