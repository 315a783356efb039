#include <algorithm>
#include <bit>

#include "kernels/attention/attention_tiles_gpu.h"
#include "kernels/attention/kv_numbers.h"
#include "kernels/gpu/tile.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 128;
constexpr int kTeams = kThreads / Tile::kTeam;
constexpr int kQueries = 64;  // (row, head) pairs of a block of threads
constexpr int kTeamTiles = kQueries / 16 / kTeams;
constexpr int kKeys = 64;                // at a time
constexpr int kMostHeads = 8;            // that read a key together
constexpr int kScoreStride = kKeys + 4;  // numbers of a row of scores

// What all threads of a block share. Scores are float32; their weights then lie at the same rows as bf16.
template <int kDim>
struct Shared {
  static constexpr int kStride = kDim + 8, kKeyStride = kKeys + 8;
  __align__(16) Bf16 q[kQueries * kStride];
  __align__(16) Bf16 keys[kKeys * kStride];
  __align__(16) Bf16 values[kDim * kKeyStride];  // [head_dim][key]
  __align__(16) float scores[kQueries * kScoreStride];
  float shrink[kQueries];
};

// Which query of a block is which row and head.
struct Queries {
  int first_row, rows, first_head, heads, heads_padded, first_position;
  __device__ int Row(int query) const { return query / heads_padded; }
  __device__ int Head(int query) const { return query % heads_padded; }
  __device__ bool Real(int query) const { return Row(query) < rows && Head(query) < heads; }
  __device__ int Position(int query) const { return first_position + Row(query); }
};

template <int kDim>
__device__ void LoadQueries(const AttentionBatch& in, const Queries& queries, Shared<kDim>& shared) {
  constexpr int kPieces = kDim / 8;
  for (int i = threadIdx.x; i < kQueries * kPieces; i += kThreads) {
    const int query = i / kPieces, piece = i % kPieces;
    const bool real = queries.Real(query);
    const Bf16* from = in.q + (queries.first_row + queries.Row(query)) * in.q_stride +
                       (queries.first_head + queries.Head(query)) * kDim + piece * 8;
    *reinterpret_cast<uint4*>(shared.q + query * Shared<kDim>::kStride + piece * 8) =
        real ? *reinterpret_cast<const uint4*>(from) : uint4{0, 0, 0, 0};
  }
}

// Keys [first, first + kKeys) that lie within [begin, end], and zeros: what lies elsewhere in the cache may
// be anything.
template <int kDim, class Number>
__device__ void LoadKeys(const AttentionBatch& in, int64_t row, int kv_head, int first, int begin, int end,
                         Shared<kDim>& shared) {
  constexpr int kPieces = kDim / 8;
  for (int i = threadIdx.x; i < kKeys * kPieces; i += kThreads) {
    const int slot = i % kKeys, piece = i / kKeys, position = first + slot;
    uint4 key{0, 0, 0, 0}, value{0, 0, 0, 0};
    if (position >= begin && position <= end) {
      const int64_t block = in.tables.Block(row, position, in.cache.block_size);
      const int64_t at = position % in.cache.block_size;
      key = LoadPairs(in.cache.Key<Number>(block, kv_head, at) + piece * 8);
      value = LoadPairs(in.cache.Value<Number>(block, kv_head, at) + piece * 8);
    }
    *reinterpret_cast<uint4*>(shared.keys + slot * Shared<kDim>::kStride + piece * 8) = key;
    const uint32_t words[4] = {value.x, value.y, value.z, value.w};
    Bf16* to = shared.values + piece * 8 * Shared<kDim>::kKeyStride + slot;
#pragma unroll
    for (int d = 0; d < 8; ++d) {
      to[d * Shared<kDim>::kKeyStride] = static_cast<Bf16>(d % 2 == 0 ? words[d / 2] : words[d / 2] >> 16);
    }
  }
}

// Running maximum and sum of a query; two lanes share one.
struct Softmax {
  float largest, sum;
};

// Scores of a query to weights, in place; what the sums so far shrink by goes to `shrink`.
__device__ void Weigh(const AttentionBatch& in, int position, int first_key, bool real, float* scores,
                      float* shrink, Softmax& softmax) {
  constexpr int kOwn = kKeys / 2;
  const int first = Lane() % 2 * kOwn;
  const int window_begin = in.window > 0 ? position - static_cast<int>(in.window) + 1 : 0;
  const float scale = in.scale * in.cache.key_scale;
  float own[kOwn], largest = __uint_as_float(0xFF800000u);
#pragma unroll
  for (int j = 0; j < kOwn; ++j) {
    const int key = first_key + first + j;
    const bool seen = real && key <= position && key >= window_begin;
    own[j] = seen ? scores[first + j] * scale : __uint_as_float(0xFF800000u);
    largest = fmaxf(largest, own[j]);
  }
  largest = fmaxf(softmax.largest, fmaxf(largest, ShuffleXor(largest, 1)));
  const float factor = __expf(softmax.largest - largest);
  float sum = 0;
#pragma unroll
  for (int j = 0; j < kOwn; ++j) {
    own[j] = __expf(own[j] - largest);  // a NaN stays one; what is not seen is 0
    sum += own[j];
  }
  sum += ShuffleXor(sum, 1);
  softmax.sum = softmax.sum * factor + sum;
  softmax.largest = largest;
  SyncLanes();  // both lanes have read the row
  uint32_t* weights = reinterpret_cast<uint32_t*>(scores) + first / 2;
#pragma unroll
  for (int j = 0; j < kOwn; j += 2) weights[j / 2] = NarrowPair(own[j], own[j + 1]);
  if (Lane() % 2 == 0) *shrink = factor;
}

// Grid (tiles, kv heads * chunks of heads). Number: of the cache.
template <int kDim, class Number>
__global__ void __launch_bounds__(kThreads)
    AttendTile(AttentionBatch in, const RowTile* tiles, int heads_padded) {
  __shared__ Shared<kDim> shared;
  constexpr int kStride = Shared<kDim>::kStride, kKeyStride = Shared<kDim>::kKeyStride, kDimTiles = kDim / 16;
  AwaitEarlier();
  const RowTile tile = tiles[blockIdx.x];
  const int group = static_cast<int>(in.heads / in.cache.kv_heads);
  const int chunks = (group + kMostHeads - 1) / kMostHeads, chunk = static_cast<int>(blockIdx.y) % chunks;
  const int kv_head = static_cast<int>(blockIdx.y) / chunks;
  const Queries queries{tile.first,
                        tile.count,
                        kv_head * group + chunk * kMostHeads,
                        min(kMostHeads, group - chunk * kMostHeads),
                        heads_padded,
                        in.positions[tile.first]};
  LoadQueries<kDim>(in, queries, shared);

  const int team = static_cast<int>(threadIdx.x) / Tile::kTeam;
  const int lane = static_cast<int>(threadIdx.x) % Tile::kTeam;
  const int team_query = team * kTeamTiles * 16;  // of kTeamTiles * 16
  const int own_query = team_query + lane / 2;
  const int head = min(queries.first_head + queries.Head(own_query), static_cast<int>(in.heads) - 1);
  Softmax softmax{in.sinks[head], 1};  // the sink is a key without a value
  Tile::Sums out[kTeamTiles][kDimTiles];

  const int end = queries.first_position + tile.count - 1;
  const int begin = in.window > 0 ? max(0, queries.first_position - static_cast<int>(in.window) + 1) : 0;
  for (int first_key = begin / kKeys * kKeys; first_key <= end; first_key += kKeys) {
    __syncthreads();
    LoadKeys<kDim, Number>(in, tile.first, kv_head, first_key, begin, end, shared);
    __syncthreads();
#pragma unroll
    for (int m = 0; m < kTeamTiles; ++m) {
      const int query = team_query + m * 16;
      Tile::Sums scores[kKeys / 16];
#pragma unroll
      for (int k = 0; k < kDim; k += 16) {
        const Tile::Rows rows = Tile::LoadRows(shared.q + query * kStride + k, kStride);
#pragma unroll
        for (int n = 0; n < kKeys / 16; ++n)
          Tile::Add(rows, Tile::LoadColumns(shared.keys + n * 16 * kStride + k, kStride), scores[n]);
      }
#pragma unroll
      for (int n = 0; n < kKeys / 16; ++n) {
        Tile::ForEachPair(scores[n], [&](int row, int column, float first, float second) {
          float* to = shared.scores + (query + row) * kScoreStride + n * 16 + column;
          to[0] = first;
          to[1] = second;
        });
      }
    }
    __syncthreads();
    Weigh(in, queries.Position(own_query), first_key, queries.Real(own_query),
          shared.scores + own_query * kScoreStride, shared.shrink + own_query, softmax);
    __syncthreads();
    const Bf16* weights = reinterpret_cast<const Bf16*>(shared.scores);
#pragma unroll
    for (int m = 0; m < kTeamTiles; ++m) {
      const int query = team_query + m * 16;
#pragma unroll
      for (int d = 0; d < kDimTiles; ++d)
        Tile::ScaleRows(out[m][d], [&](int row) { return shared.shrink[query + row]; });
#pragma unroll
      for (int k = 0; k < kKeys; k += 16) {
        const Tile::Rows rows = Tile::LoadRows(weights + query * 2 * kScoreStride + k, 2 * kScoreStride);
#pragma unroll
        for (int d = 0; d < kDimTiles; ++d)
          Tile::Add(rows, Tile::LoadColumns(shared.values + d * 16 * kKeyStride + k, kKeyStride), out[m][d]);
      }
    }
  }
  __syncthreads();
  if (lane % 2 == 0) shared.shrink[own_query] = in.cache.value_scale / softmax.sum;
  __syncthreads();
#pragma unroll
  for (int m = 0; m < kTeamTiles; ++m) {
#pragma unroll
    for (int d = 0; d < kDimTiles; ++d) {
      Tile::ForEachPair(out[m][d], [&](int row, int column, float first, float second) {
        const int query = team_query + m * 16 + row;
        if (!queries.Real(query)) return;
        const float share = shared.shrink[query];
        Bf16* to =
            in.out +
            ((tile.first + queries.Row(query)) * in.heads + queries.first_head + queries.Head(query)) * kDim +
            d * 16 + column;
        *reinterpret_cast<uint32_t*>(to) = NarrowPair(first * share, second * share);
      });
    }
  }
}

int64_t HeadsPadded(int64_t group) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min<int64_t>(group, kMostHeads))));
}

template <int kDim>
void Launch(void* stream, const AttentionBatch& batch, const RowTile* tiles, int64_t count) {
  const int64_t group = batch.heads / batch.cache.kv_heads;
  const dim3 grid(static_cast<unsigned>(count),
                  static_cast<unsigned>(batch.cache.kv_heads) * Blocks(group, kMostHeads));
  const auto kernel = batch.cache.fp8 ? AttendTile<kDim, E4M3> : AttendTile<kDim, Bf16>;
  ASSAY_LAUNCH("attention of prompts", kernel, grid, kThreads, stream, batch, tiles,
               static_cast<int>(HeadsPadded(group)));
}

}  // namespace

int64_t AttentionTileRows(int64_t group) {
  return kQueries / HeadsPadded(group);
}

bool AttentionHasTiles(int64_t head_dim) {
  return head_dim == 32 || head_dim == 64;
}

void AttentionOfTiles(void* stream, const AttentionBatch& batch, const RowTile* tiles, int64_t count) {
  if (batch.cache.head_dim == 64) return Launch<64>(stream, batch, tiles, count);
  if (batch.cache.head_dim == 32) return Launch<32>(stream, batch, tiles, count);
  DeviceFailed("attention of prompts", "there are tiles for heads of 32 and 64 numbers");
}

}  // namespace assay::kernels::gpu
