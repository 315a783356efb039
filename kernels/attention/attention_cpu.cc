#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "kernels/attention/attention.h"
#include "kernels/simd.h"
#include "kernels/unroll.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/lanes16-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

constexpr int64_t kKeys = 16;     // keys of one step
constexpr int64_t kMaxGroup = 8;  // query heads of one pass over the keys
constexpr int64_t kMaxHeadDim = 256;

// Running softmax of one query head. The sum is kept in 16 lanes (lane j: keys j mod 16) until the end.
struct Running {
  float largest;
  alignas(64) float sums[kKeys];
  alignas(64) float weighted[kMaxHeadDim];
};

// scores[h][j] = scale * q_h . k_j for 16 keys at `keys`, a chain over d for each.
template <int kHeads>
HWY_INLINE void Scores(const PagedHead& cache, const float* keys, const float* q, float scale,
                       float* scores) {
  const Floats df;
  for (int64_t part = 0; part < kParts; ++part) {
    hn::Vec<Floats> sums[kHeads];
    ASSAY_UNROLL for (int h = 0; h < kHeads; ++h) sums[h] = hn::Zero(df);
    for (int64_t d = 0; d < cache.head_dim; ++d) {
      const auto key = hn::LoadU(df, keys + d * cache.block_size + part * kFloats);
      ASSAY_UNROLL for (int h = 0; h < kHeads; ++h) {
        sums[h] = hn::MulAdd(key, hn::Set(df, q[h * cache.head_dim + d]), sums[h]);
      }
    }
    ASSAY_UNROLL for (int h = 0; h < kHeads; ++h) {
      hn::StoreU(hn::Mul(sums[h], hn::Set(df, scale)), df, scores + h * kKeys + part * kFloats);
    }
  }
}

// Takes keys [first, last) of a step of 16 into one head's running softmax; scores become their weights,
// those of other keys 0.
HWY_INLINE void Weigh(int64_t head_dim, int64_t first, int64_t last, float* scores, Running& running) {
  const Floats df;
  const auto valid = [&](int64_t part) HWY_ATTR {
    const auto key = hn::Iota(df, static_cast<float>(part));
    return hn::And(hn::Ge(key, hn::Set(df, static_cast<float>(first))),
                   hn::Lt(key, hn::Set(df, static_cast<float>(last))));
  };
  const auto lowest = hn::Set(df, running.largest);
  auto largests = lowest;
  for (int64_t j = 0; j < kKeys; j += kFloats) {
    largests = hn::Max(largests, hn::IfThenElse(valid(j), hn::LoadU(df, scores + j), lowest));
  }
  const float largest = hn::GetLane(hn::MaxOfLanes(df, largests));
  if (largest != running.largest) {
    const auto shrink = hn::Exp(df, hn::Set(df, running.largest - largest));
    for (int64_t d = 0; d < head_dim; d += kFloats) {
      hn::Store(hn::Mul(hn::Load(df, running.weighted + d), shrink), df, running.weighted + d);
    }
    for (int64_t j = 0; j < kKeys; j += kFloats) {
      hn::Store(hn::Mul(hn::Load(df, running.sums + j), shrink), df, running.sums + j);
    }
    running.largest = largest;
  }
  for (int64_t j = 0; j < kKeys; j += kFloats) {
    const auto power = hn::Sub(hn::LoadU(df, scores + j), hn::Set(df, largest));
    // Highway's exp of a NaN is 0; a NaN has to stay visible.
    const auto weight = hn::IfThenElse(hn::IsNaN(power), power, hn::Exp(df, power));
    const auto weights = hn::IfThenElseZero(valid(j), weight);
    hn::StoreU(weights, df, scores + j);
    hn::Store(hn::Add(hn::Load(df, running.sums + j), weights), df, running.sums + j);
  }
}

// running[h].weighted += sum over keys [first, last) of weights[h][j] * v_j, a chain over j for each element.
template <int kHeads>
HWY_INLINE void AddValues(const PagedHead& cache, const float* values, int64_t first, int64_t last,
                          const float* weights, Running* running) {
  const Floats df;
  for (int64_t d = 0; d < cache.head_dim; d += kFloats) {
    hn::Vec<Floats> sums[kHeads];
    ASSAY_UNROLL for (int h = 0; h < kHeads; ++h) sums[h] = hn::Load(df, running[h].weighted + d);
    for (int64_t j = first; j < last; ++j) {
      const auto value = hn::LoadU(df, values + j * cache.head_dim + d);
      ASSAY_UNROLL for (int h = 0; h < kHeads; ++h) {
        sums[h] = hn::MulAdd(hn::Set(df, weights[h * kKeys + j]), value, sums[h]);
      }
    }
    ASSAY_UNROLL for (int h = 0; h < kHeads; ++h) hn::Store(sums[h], df, running[h].weighted + d);
  }
}

// kHeads heads of one row take 16 keys.
template <int kHeads>
HWY_INLINE void Take(const PagedHead& cache, const float* keys, const float* values, int64_t first,
                     int64_t last, const float* q, float scale, Running* running) {
  alignas(64) float scores[kHeads * kKeys];
  Scores<kHeads>(cache, keys, q, scale, scores);
  for (int h = 0; h < kHeads; ++h) Weigh(cache.head_dim, first, last, scores + h * kKeys, running[h]);
  AddValues<kHeads>(cache, values, first, last, scores, running);
}

// All keys of one row for up to kMaxGroup heads.
void AttendRow(const PagedHead& cache, const AttentionRows& in, const float* q, const float* sinks,
               int64_t heads, int64_t position, float* out) {
  Running running[kMaxGroup];
  for (int64_t h = 0; h < heads; ++h) {
    running[h].largest = sinks[h];
    std::fill_n(running[h].sums, kKeys, 0.0f);
    running[h].sums[0] = 1;  // the sink itself
    std::fill_n(running[h].weighted, cache.head_dim, 0.0f);
  }
  const int64_t first = in.window > 0 ? std::max<int64_t>(0, position - in.window + 1) : 0;
  for (int64_t step = first / kKeys * kKeys; step <= position; step += kKeys) {
    const int64_t block = in.block_table[static_cast<size_t>(step / cache.block_size)];
    const int64_t slot = step % cache.block_size;
    const float* values = cache.values + block * cache.block_stride + slot * cache.head_dim;
    const float* keys = cache.keys + block * cache.block_stride + slot;
    const int64_t begin = std::max<int64_t>(0, first - step), end = std::min(kKeys, position - step + 1);
    int64_t h = 0;
    for (; h + 4 <= heads; h += 4) {
      Take<4>(cache, keys, values, begin, end, q + h * cache.head_dim, in.scale, running + h);
    }
    for (; h < heads; ++h) {
      Take<1>(cache, keys, values, begin, end, q + h * cache.head_dim, in.scale, running + h);
    }
  }
  const Floats df;
  for (int64_t h = 0; h < heads; ++h) {
    const auto inverse = hn::Set(df, 1 / TreeSum(running[h].sums));
    for (int64_t d = 0; d < cache.head_dim; d += kFloats) {
      hn::StoreU(hn::Mul(hn::Load(df, running[h].weighted + d), inverse), df, out + h * cache.head_dim + d);
    }
  }
}

void Attend(const PagedHead& cache, const AttentionRows& in) {
  for (int64_t r = 0; r < in.rows; ++r) {
    for (int64_t h = 0; h < in.group; h += kMaxGroup) {
      const int64_t offset = h * cache.head_dim;
      AttendRow(cache, in, in.q + r * in.q_stride + offset, in.sinks + h, std::min(kMaxGroup, in.group - h),
                in.start + r, in.out + r * in.out_stride + offset);
    }
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

HWY_EXPORT(Attend);
void Attention(const PagedHead& cache, const AttentionRows& rows) {
  CHECK_EQ(cache.block_size % 16, 0);
  CHECK_EQ(cache.head_dim % 16, 0);
  CHECK_LE(cache.head_dim, 256);
  HWY_DYNAMIC_DISPATCH(Attend)(cache, rows);
}

}  // namespace assay::kernels
#endif
