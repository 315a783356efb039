#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/routing/bitmatrix.h"

namespace assay::kernels {

// A gate is one (token, slot) pair, numbered g = token * k + slot. Grouping the gates by expert gives each
// expert a contiguous run of rows to multiply.
struct RoutingMetadata {
  std::vector<int32_t> col_sum;         // [experts] gates of each expert
  std::vector<int32_t> expert_offsets;  // [experts + 1] first sorted position of each expert
  // [tokens * k] position -> gate, ascending expert, ascending gate within one (gather order); -1 after the
  // last valid gate
  std::vector<int32_t> col_sorted;
  std::vector<int32_t>
      row_sorted;  // [tokens * k] gate -> position (scatter order); -1 for a gate without expert
};

// Counts from the bitmatrix, places from the ids, as GPU kernels do: a bitmatrix that disagrees with the ids
// shows up in the invariants (kernels/routing/invariants.h). Ids outside [0, experts) are gates without
// expert.
RoutingMetadata MakeRoutingMetadata(std::span<const int32_t> ids, int64_t k, const Bitmatrix& matrix);

// The same, straight from ids that are known to be in range or negative: what the CPU backend runs, without
// allocating when `metadata` has been used for as many gates before.
void GroupByExpert(std::span<const int32_t> ids, int64_t experts, RoutingMetadata& metadata);

// weights [tokens * k] in sorted order; -1 where there is no gate.
std::vector<float> SortedGateWeights(const RoutingMetadata& metadata, std::span<const float> weights);

// Tiles of `block` rows over the experts' runs: entry = tile_in_expert << 16 | expert, -1 in the tail. The
// length is the largest number of tiles that any routing of n_gates needs.
int64_t MaxTiles(int64_t n_gates, int64_t experts, int64_t block);
std::vector<int32_t> BlockSchedule(std::span<const int32_t> col_sum, int64_t n_gates, int64_t block);
// [experts + 1]: first tile of each expert.
std::vector<int32_t> BlockOffsets(std::span<const int32_t> col_sum, int64_t block);

}  // namespace assay::kernels
