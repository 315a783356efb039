#pragma once

#include <cstdint>

namespace assay::kernels::gpu {

// Which experts each row takes, and where its gates go: TopK, PackBitmatrix, MakeRoutingMetadata and
// BlockSchedule of kernels/routing, in device memory. Counts come from the bits and places from the ids, so
// that bits which disagree with the ids show in the invariants.
struct Routing {
  int64_t tokens, experts, k;    // experts <= 256, k <= 32
  const float* logits;           // [tokens, experts]
  const int32_t* padding_below;  // [tokens]: a row is padding where this is negative; or nullptr
  int64_t block;                 // gates of a tile of the schedule
  // Results.
  int32_t* ids;             // [tokens, k]
  float* weights;           // [tokens, k]
  uint32_t* bits;           // [tokens, ceil(experts / 32)]
  int32_t* col_sum;         // [experts]
  int32_t* expert_offsets;  // [experts + 1]
  int32_t* col_sorted;      // [tokens * k]
  int32_t* row_sorted;      // [tokens * k]
  int32_t* schedule;        // [MaxTiles(tokens * k, experts, block)]
  int64_t* experts_taken;   // a counter that grows by the experts that any row takes; or nullptr
  int32_t* too_many;        // set to 1 when counts add up to more gates than there are; or nullptr
};
// All of it: few tokens in one launch, many in several.
void Route(void* stream, const Routing& routing);

// Its parts.
void TopK(void* stream, const Routing& routing);           // ids and weights
void PackBitmatrix(void* stream, const Routing& routing);  // bits, from the ids
void GroupGates(void* stream, const Routing& routing);     // the rest, from both

}  // namespace assay::kernels::gpu
