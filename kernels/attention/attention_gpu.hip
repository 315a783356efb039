#include <algorithm>

#include "kernels/attention/attention_gpu.h"
#include "kernels/attention/kv_numbers.h"
#include "kernels/gpu/device.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kTeams = kThreads / kLanes;  // each takes every kTeams-th run of 32 keys
constexpr int kHeads = 8;                  // query heads that read a key together
constexpr int kSplitKeys = 256;            // a split is a multiple of this, so that each team has work

__device__ float NegativeInfinity() {
  return __uint_as_float(0xFF800000u);
}

// The keys [first, last] that a row sees, and the part of them that is this split's, in runs of 32 keys at
// absolute positions.
struct KeyRange {
  int first, last, begin, end;  // runs [begin, end)
  __device__ KeyRange(const AttentionBatch& in, int position, int split) {
    first = in.window > 0 ? max(0, position - static_cast<int>(in.window) + 1) : 0;
    last = position;
    const int first_run = first / kLanes, runs = last / kLanes + 1 - first_run;
    const int splits = static_cast<int>(in.splits);
    const int a_split = ((runs + splits - 1) / splits + kTeams - 1) / kTeams * kTeams;
    begin = first_run + split * a_split;
    end = min(begin + a_split, first_run + runs);
  }
};

template <int kDim, class Number>
__device__ void PrefetchKey(const AttentionBatch& in, int64_t row, int kv_head, int key,
                            const KeyRange& range) {
  if (key < range.first || key > range.last || key / kLanes >= range.end) return;
  const int64_t block = in.tables.Block(row, key, in.cache.block_size), slot = key % in.cache.block_size;
  constexpr int kLine = 128 / sizeof(Number);  // of memory
#pragma unroll
  for (int d = 0; d < kDim; d += kLine) {
    Prefetch(in.cache.Key<Number>(block, kv_head, slot) + d);
    Prefetch(in.cache.Value<Number>(block, kv_head, slot) + d);
  }
}

// Scores of 32 keys and kHeads heads: a lane has one key.
template <int kDim, class Number>
__device__ void Scores(const Number* key, const float* q, float scale, float* scores) {
  constexpr int kStep = 16 / sizeof(Number);
#pragma unroll
  for (int h = 0; h < kHeads; ++h) scores[h] = 0;
#pragma unroll
  for (int d = 0; d < kDim; d += kStep) {
    float k[kStep];
    LoadNumbers(true, key + d, k);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
#pragma unroll
      for (int i = 0; i < kStep; ++i) scores[h] += q[h * kDim + d + i] * k[i];
    }
  }
#pragma unroll
  for (int h = 0; h < kHeads; ++h) scores[h] *= scale;
}

// A sum of weighted values, from weights relative to `largest`, with the sink, which is a key without a
// value.
__device__ float WithSink(float values, float largest, float sum, float sink) {
  const float all = fmaxf(largest, sink), share = __expf(largest - all);
  return values * share / (sum * share + __expf(sink - all));
}

// One (row, key-value head, split): grid (rows, kv heads * chunks of heads, splits). Number: of the cache.
template <int kDim, class Number>
__global__ void __launch_bounds__(kThreads) AttendSplit(AttentionBatch in) {
  constexpr int kValuesAhead = kDim == 64   ? 16
                               : kDim == 32 ? 8
                                            : 4;      // keys whose values a lane has in flight
  constexpr int kOwn = (kDim + kLanes - 1) / kLanes;  // elements of the result that a lane has, side by side
  __shared__ __align__(16) float q[kHeads * kDim];
  __shared__ __align__(16) float weights[kTeams][kLanes][kHeads];
  __shared__ float team_max[kTeams][kHeads], team_sum[kTeams][kHeads];
  __shared__ float team_out[kTeams][kHeads][kDim];

  const int64_t row = blockIdx.x;
  const int position = in.positions[row];
  if (position < 0) return AwaitEarlier();
  const int group = static_cast<int>(in.heads / in.cache.kv_heads), chunks = (group + kHeads - 1) / kHeads;
  const int kv_head = static_cast<int>(blockIdx.y) / chunks;
  const int first_head = kv_head * group + static_cast<int>(blockIdx.y) % chunks * kHeads;
  const int heads = min(kHeads, (kv_head + 1) * group - first_head);
  const int lane = Lane(), team = GroupOfLanes(), own = lane * kOwn;
  const KeyRange range(in, position, static_cast<int>(blockIdx.z));
  if (threadIdx.x == 0) Prefetch(in.sinks + first_head);
  PrefetchKey<kDim, Number>(in, row, kv_head, (range.begin + team) * kLanes + lane, range);
  AwaitEarlier();
  for (int i = threadIdx.x; i < kHeads * kDim; i += kThreads) {
    q[i] = i < heads * kDim ? Widen(in.q[row * in.q_stride + first_head * kDim + i]) : 0.0f;
  }
  __syncthreads();

  float largest[kHeads], sum[kHeads], out[kHeads][kOwn];
#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    largest[h] = NegativeInfinity();
    sum[h] = 0;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) out[h][i] = 0;
  }

  for (int run = range.begin + team; run < range.end; run += kTeams) {
    const int key = run * kLanes + lane;
    const bool seen = key >= range.first && key <= range.last;
    const int slot = key % static_cast<int>(in.cache.block_size);
    // A key beyond the row's that has one of them among its own 16 is in the same block.
    const int nearest = min(max(key, range.first), range.last);
    const int64_t block = in.tables.Block(row, nearest, in.cache.block_size);
    float scores[kHeads];
#pragma unroll
    for (int h = 0; h < kHeads; ++h) scores[h] = NegativeInfinity();
    if (seen)
      Scores<kDim>(in.cache.Key<Number>(block, kv_head, slot), q, in.scale * in.cache.key_scale, scores);
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      const float next = fmaxf(largest[h], MaxLanes(scores[h]));  // a NaN is passed over and comes back below
      const float shrink = next == NegativeInfinity() ? 1.0f : __expf(largest[h] - next);
      const float weight = seen ? __expf(scores[h] - next) : 0.0f;
      largest[h] = next;
      sum[h] = sum[h] * shrink + weight;  // of this lane's keys
      weights[team][lane][h] = weight;
#pragma unroll
      for (int i = 0; i < kOwn; ++i) out[h][i] *= shrink;
    }
    SyncLanes();
    const Number* values = in.cache.Value<Number>(block, kv_head, slot);
    for (int first = 0; first < kLanes; first += kValuesAhead) {
      float value[kValuesAhead][kOwn];
      static_assert(16 % kValuesAhead == 0);  // keys of one block
      const auto of_first = reinterpret_cast<const Number*>(
          ShuffleFrom(static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(values)), first));
#pragma unroll
      for (int j = 0; j < kValuesAhead; ++j) {
        // What lies in the cache beyond the row's keys may be anything, so it is not even multiplied by zero.
        const int other = run * kLanes + first + j;
        const bool other_seen = other >= range.first && other <= range.last;
        LoadNumbers(other_seen && own < kDim, of_first + j * kDim + own, value[j]);
      }
#pragma unroll
      for (int j = 0; j < kValuesAhead; ++j) {
        const float* of_key = weights[team][first + j];
#pragma unroll
        for (int h = 0; h < kHeads; ++h) {
          const float weight = of_key[h];
#pragma unroll
          for (int i = 0; i < kOwn; ++i) out[h][i] += weight * value[j][i];
        }
      }
    }
    SyncLanes();
  }

#pragma unroll
  for (int h = 0; h < kHeads; ++h) {
    sum[h] = SumLanes(sum[h]);
    if (lane == 0) {
      team_max[team][h] = largest[h];
      team_sum[team][h] = sum[h];
    }
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      if (own < kDim) team_out[team][h][own + i] = out[h][i];
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < heads * kDim; i += kThreads) {
    const int h = i / kDim, d = i % kDim;
    float merged_max = NegativeInfinity(), merged_sum = 0, merged = 0;
#pragma unroll
    for (int t = 0; t < kTeams; ++t) merged_max = fmaxf(merged_max, team_max[t][h]);
#pragma unroll
    for (int t = 0; t < kTeams; ++t) {
      const float share = team_max[t][h] == NegativeInfinity() && !isnan(team_sum[t][h])
                              ? 0.0f
                              : __expf(team_max[t][h] - merged_max);
      merged_sum += share * team_sum[t][h];
      merged += share * team_out[t][h][d];
    }
    if (in.splits == 1) {
      in.out[(row * in.heads + first_head + h) * kDim + d] =
          Narrow(WithSink(merged, merged_max, merged_sum, in.sinks[first_head + h]) * in.cache.value_scale);
      continue;
    }
    float* partial = in.partial + ((row * in.heads + first_head + h) * in.splits + blockIdx.z) * (kDim + 2);
    partial[d] = merged;
    if (d == 0) {
      partial[kDim] = merged_max;
      partial[kDim + 1] = merged_sum;
    }
  }
}

// The splits of one (row, head), and its sink.
__global__ void MergeSplits(AttentionBatch in) {
  const int64_t row = blockIdx.x, head = blockIdx.y;
  const float sink = in.sinks[head];
  AwaitEarlier();
  if (in.positions[row] < 0) return;
  const int dim = static_cast<int>(in.cache.head_dim);
  const float* partial = in.partial + (row * in.heads + head) * in.splits * (dim + 2);
  float largest = sink;
#pragma unroll 8
  for (int s = 0; s < in.splits; ++s) largest = fmaxf(largest, partial[s * (dim + 2) + dim]);
  float sum = __expf(sink - largest), out = 0;
#pragma unroll 8
  for (int s = 0; s < in.splits; ++s) {
    const float* from = partial + s * (dim + 2);
    const float share = __expf(from[dim] - largest);
    sum += share * from[dim + 1];
    out += share * from[threadIdx.x];
  }
  in.out[(row * in.heads + head) * dim + threadIdx.x] = Narrow(out / sum * in.cache.value_scale);
}

template <int kDim, class Number>
void LaunchOf(void* stream, const AttentionBatch& batch) {
  const int64_t group = batch.heads / batch.cache.kv_heads;
  const dim3 grid(static_cast<unsigned>(batch.rows),
                  static_cast<unsigned>(batch.cache.kv_heads) * Blocks(group, kHeads),
                  static_cast<unsigned>(batch.splits));
  const auto kernel = AttendSplit<kDim, Number>;
  ASSAY_LAUNCH("attention", kernel, grid, kThreads, stream, batch);
  if (batch.splits == 1) return;
  ASSAY_LAUNCH("attention merge", MergeSplits,
               dim3(static_cast<unsigned>(batch.rows), static_cast<unsigned>(batch.heads)), kDim, stream,
               batch);
}

template <int kDim>
void Launch(void* stream, const AttentionBatch& batch) {
  return batch.cache.fp8 ? LaunchOf<kDim, E4M3>(stream, batch) : LaunchOf<kDim, Bf16>(stream, batch);
}

}  // namespace

int64_t AttentionPartials(int64_t rows, int64_t heads, int64_t splits, int64_t head_dim) {
  return rows * heads * splits * (head_dim + 2);
}

int64_t AttentionSplits(int64_t rows, int64_t kv_heads, int64_t longest, int64_t multiprocessors) {
  constexpr int64_t kBlocksEach = 4;  // of threads, that a multiprocessor holds at least
  const int64_t wanted = kBlocksEach * multiprocessors / std::max<int64_t>(1, rows * kv_heads);
  return std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, longest / kSplitKeys));
}

void Attention(void* stream, const AttentionBatch& batch) {
  switch (batch.cache.head_dim) {
    case 16:
      return Launch<16>(stream, batch);
    case 32:
      return Launch<32>(stream, batch);
    case 64:
      return Launch<64>(stream, batch);
    case 128:
      return Launch<128>(stream, batch);
    default:
      DeviceFailed("attention", "head_dim is " + std::to_string(batch.cache.head_dim) +
                                    ", and the kernel has 16, 32, 64 and 128");
  }
}

}  // namespace assay::kernels::gpu
