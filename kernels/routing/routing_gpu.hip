#include "kernels/gpu/device.h"
#include "kernels/routing/metadata.h"
#include "kernels/routing/routing_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 256;
constexpr int kRowsABlock = kThreads / kLanes;  // top-k: one row a group of lanes
constexpr int64_t kFewGates = 256;
constexpr int kMaxExperts = 256, kLaneExperts = kMaxExperts / kLanes;

// A logit and its expert as one integer whose order is the order of choice; as kernels/routing/top_k_cpu.cc.
__device__ uint64_t Key(float logit, int expert) {
  const uint32_t bits = __float_as_uint(logit == 0 ? 0.0f : logit);
  const uint32_t ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  const uint32_t value = isnan(logit) ? 0 : ordered;
  return static_cast<uint64_t>(value) << 32 | (0xFFFFFFFFu - static_cast<uint32_t>(expert));
}

// Ids and weights of row t, by a group of lanes.
__device__ void SelectRow(const Routing& in, int64_t t) {
  const int lane = Lane(), k = static_cast<int>(in.k), experts = static_cast<int>(in.experts);
  int32_t* ids = in.ids + t * k;
  float* weights = in.weights + t * k;
  if (in.padding_below != nullptr && in.padding_below[t] < 0) {
    if (lane < k) {
      ids[lane] = -1;
      weights[lane] = 0;
    }
    return;
  }
  const float* logits = in.logits + t * experts;
  uint64_t keys[kLaneExperts];  // 0: no expert, or taken; a NaN's key is not 0
#pragma unroll
  for (int i = 0; i < kLaneExperts; ++i) {
    const int expert = lane + i * kLanes;
    keys[i] = expert < experts ? Key(logits[expert], expert) : 0;
  }
  int32_t mine = 0x7FFFFFFF;  // lane j holds the j-th choice
  float largest = 0;
  for (int j = 0; j < k; ++j) {
    uint64_t best = 0;
#pragma unroll
    for (int i = 0; i < kLaneExperts; ++i) best = keys[i] > best ? keys[i] : best;
    best = MaxLanes(best);
    const auto expert = static_cast<int32_t>(0xFFFFFFFFu - static_cast<uint32_t>(best));
#pragma unroll
    for (int i = 0; i < kLaneExperts; ++i) keys[i] = keys[i] == best ? 0 : keys[i];
    if (lane == j) mine = expert;
    if (j == 0) largest = logits[expert];
  }
  // In ascending id: how many are smaller is the place.
  int place = 0;
  for (int j = 0; j < k; ++j) place += ShuffleFrom(mine, j) < mine ? 1 : 0;
  const float share = lane < k ? expf(logits[mine] - largest) : 0.0f;
  const float sum = SumLanes(share);
  if (lane < k) {
    ids[place] = mine;
    weights[place] = share / sum;
  }
}

__global__ void __launch_bounds__(kThreads) SelectRows(Routing in) {
  AwaitEarlier();
  const int64_t t = static_cast<int64_t>(blockIdx.x) * kRowsABlock + GroupOfLanes();
  if (t < in.tokens) SelectRow(in, t);
}

// Word `at` of the bits, by a thread. The test for an id comes before / and %: in C++ -1 / 32 is 0, and the
// slot without expert would invent expert 31.
__device__ void PackWord(const Routing& in, int64_t at) {
  const int64_t words = (in.experts + 31) / 32, t = at / words, word = at % words;
  uint32_t bits = 0;
  for (int64_t j = 0; j < in.k; ++j) {
    const int32_t id = in.ids[t * in.k + j];
    if (id < 0 || id >= in.experts) continue;
    if (id / 32 == word) bits |= 1u << (static_cast<uint32_t>(id) & 31u);
  }
  in.bits[at] = bits;
}

__global__ void __launch_bounds__(kThreads) PackBits(Routing in) {
  AwaitEarlier();
  const int64_t at = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (at < in.tokens * ((in.experts + 31) / 32)) PackWord(in, at);
}

__device__ int32_t BitOf(const Routing& in, int64_t t, int64_t expert) {
  const int64_t words = (in.experts + 31) / 32;
  return static_cast<int32_t>(in.bits[t * words + expert / 32] >> (expert % 32) & 1u);
}

// One block an expert.
__global__ void __launch_bounds__(kThreads) CountBits(Routing in) {
  __shared__ int32_t sums[kThreads / kLanes];
  AwaitEarlier();
  const int64_t expert = blockIdx.x;
  int32_t count = 0;
  for (int64_t t = threadIdx.x; t < in.tokens; t += kThreads) count += BitOf(in, t, expert);
  for (int mask = kLanes / 2; mask > 0; mask /= 2) count += ShuffleXor(count, mask);
  if (Lane() == 0) sums[GroupOfLanes()] = count;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int i = 1; i < kThreads / kLanes; ++i) count += sums[i];
  in.col_sum[expert] = count;
}

// Offsets, the schedule, and -1 in every place that nothing takes, by one block.
__device__ void LayOutBlock(const Routing& in, int64_t tiles) {
  __shared__ int32_t gates_of[kMaxExperts], tiles_of[kMaxExperts], first_tile[kMaxExperts + 1];
  const int experts = static_cast<int>(in.experts), block = static_cast<int>(in.block);
  for (int e = threadIdx.x; e < experts; e += kThreads) {
    gates_of[e] = in.col_sum[e];
    tiles_of[e] = (in.col_sum[e] + block - 1) / block;
  }
  __syncthreads();
  for (int e = threadIdx.x; e <= experts; e += kThreads) {
    int32_t offset = 0, tile = 0, taken = 0;
#pragma unroll 8
    for (int before = 0; before < e; ++before) {
      offset += gates_of[before];
      tile += tiles_of[before];
      taken += gates_of[before] > 0 ? 1 : 0;
    }
    in.expert_offsets[e] = offset;
    first_tile[e] = tile;
    if (e == experts && in.experts_taken != nullptr) *in.experts_taken += taken;
    if (e == experts && in.too_many != nullptr && offset > in.tokens * in.k) *in.too_many = 1;
  }
  __syncthreads();
  for (int64_t i = threadIdx.x; i < tiles; i += kThreads) in.schedule[i] = -1;
  for (int64_t i = threadIdx.x; i < in.tokens * in.k; i += kThreads) in.col_sorted[i] = in.row_sorted[i] = -1;
  __syncthreads();
  for (int e = threadIdx.x; e < experts; e += kThreads) {
    for (int32_t tile = first_tile[e]; tile < first_tile[e + 1] && tile < tiles; ++tile) {
      in.schedule[tile] = (tile - first_tile[e]) << 16 | e;
    }
  }
}

__global__ void __launch_bounds__(kThreads) LayOut(Routing in, int64_t tiles) {
  AwaitEarlier();
  LayOutBlock(in, tiles);
}

// One block an expert: its gates in ascending order behind its offset.
__global__ void __launch_bounds__(kThreads) PlaceGates(Routing in) {
  __shared__ int32_t sums[kThreads / kLanes];
  AwaitEarlier();
  const auto expert = static_cast<int32_t>(blockIdx.x);
  const int lane = Lane(), group = GroupOfLanes();
  const int64_t gates = in.tokens * in.k;
  int32_t next = in.expert_offsets[expert];
  for (int64_t first = 0; first < gates; first += kThreads) {
    const int64_t g = first + threadIdx.x;
    const bool takes = g < gates && in.ids[g] == expert;
    int32_t before = takes ? 1 : 0;  // among this group's lanes, this one included
    for (int by = 1; by < kLanes; by *= 2) {
      const int32_t lower = ShuffleUp(before, by);
      if (lane >= by) before += lower;
    }
    if (lane == kLanes - 1) sums[group] = before;
    __syncthreads();
    int32_t earlier = 0, all = 0;
    for (int i = 0; i < kThreads / kLanes; ++i) {
      if (i < group) earlier += sums[i];
      all += sums[i];
    }
    const int32_t position = next + earlier + before - 1;
    if (takes && position < gates) {  // counts that disagree with the ids
      in.col_sorted[position] = static_cast<int32_t>(g);
      in.row_sorted[g] = position;
    }
    next += all;
    __syncthreads();
  }
}

template <class T>
__device__ void CopyBlock(const T* from, int64_t count, T* to) {
  for (int64_t i = threadIdx.x; i < count; i += kThreads) to[i] = from[i];
}

// All of the above for few tokens, by one block, where what a step reads of the one before is in shared
// memory: between launches of so little work, and between memory's answers, the device would mostly wait.
__global__ void __launch_bounds__(kThreads) RouteFew(Routing out, int64_t tiles) {
  __shared__ int32_t ids[kFewGates], col_sum[kMaxExperts], offsets[kMaxExperts + 1];
  __shared__ uint32_t bits[kFewGates * kMaxExperts / 32];
  AwaitEarlier();
  Routing in = out;
  in.ids = ids;
  in.col_sum = col_sum;
  in.expert_offsets = offsets;
  in.bits = bits;
  const int64_t gates = in.tokens * in.k, words = in.tokens * ((in.experts + 31) / 32);
  for (int64_t t = GroupOfLanes(); t < in.tokens; t += kRowsABlock) SelectRow(in, t);
  __syncthreads();
  for (int64_t at = threadIdx.x; at < words; at += kThreads) PackWord(in, at);
  __syncthreads();
  for (int64_t e = threadIdx.x; e < in.experts; e += kThreads) {
    int32_t count = 0;
    for (int64_t t = 0; t < in.tokens; ++t) count += BitOf(in, t, e);
    in.col_sum[e] = count;
  }
  __syncthreads();
  LayOutBlock(in, tiles);
  __syncthreads();
  CopyBlock(ids, gates, out.ids);
  CopyBlock(bits, words, out.bits);
  CopyBlock(col_sum, in.experts, out.col_sum);
  CopyBlock(offsets, in.experts + 1, out.expert_offsets);
  for (int64_t g = threadIdx.x; g < gates; g += kThreads) {
    const int32_t expert = in.ids[g];
    if (expert < 0 || expert >= in.experts) continue;
    int32_t position = in.expert_offsets[expert];
    for (int64_t earlier = 0; earlier < g; ++earlier) position += in.ids[earlier] == expert ? 1 : 0;
    if (position >= gates) continue;  // counts that disagree with the ids
    in.col_sorted[position] = static_cast<int32_t>(g);
    in.row_sorted[g] = position;
  }
}

void CheckSizes(const Routing& routing) {
  if (routing.experts > kMaxExperts || routing.k > kLanes || routing.k > routing.experts)
    DeviceFailed("routing", "at most 256 experts and 32 of them a token");
}

}  // namespace

void Route(void* stream, const Routing& routing) {
  CheckSizes(routing);
  if (routing.tokens * routing.k > kFewGates) {
    TopK(stream, routing);
    PackBitmatrix(stream, routing);
    return GroupGates(stream, routing);
  }
  const int64_t tiles = MaxTiles(routing.tokens * routing.k, routing.experts, routing.block);
  ASSAY_LAUNCH("routing", RouteFew, dim3(1), kThreads, stream, routing, tiles);
}

void TopK(void* stream, const Routing& routing) {
  CheckSizes(routing);
  ASSAY_LAUNCH("top_k", SelectRows, dim3(Blocks(routing.tokens, kRowsABlock)), kThreads, stream, routing);
}

void PackBitmatrix(void* stream, const Routing& routing) {
  const int64_t words = (routing.experts + 31) / 32;
  ASSAY_LAUNCH("bitmatrix", PackBits, dim3(Blocks(routing.tokens * words, kThreads)), kThreads, stream,
               routing);
}

void GroupGates(void* stream, const Routing& routing) {
  const auto experts = static_cast<unsigned>(routing.experts);
  ASSAY_LAUNCH("routing counts", CountBits, dim3(experts), kThreads, stream, routing);
  const int64_t tiles = MaxTiles(routing.tokens * routing.k, routing.experts, routing.block);
  ASSAY_LAUNCH("routing schedule", LayOut, dim3(1), kThreads, stream, routing, tiles);
  ASSAY_LAUNCH("routing places", PlaceGates, dim3(experts), kThreads, stream, routing);
}

}  // namespace assay::kernels::gpu
