#include "kernels/routing/metadata.h"

#include <algorithm>

namespace assay::kernels {
namespace {

// The places of the gates, expert by expert, given where each expert's run starts.
void Place(std::span<const int32_t> ids, RoutingMetadata& metadata) {
  const auto experts = static_cast<int32_t>(metadata.col_sum.size());
  metadata.col_sorted.assign(ids.size(), -1);
  metadata.row_sorted.assign(ids.size(), -1);
  std::vector<int32_t> next(metadata.expert_offsets.begin(), metadata.expert_offsets.end() - 1);
  for (size_t g = 0; g < ids.size(); ++g) {
    if (ids[g] < 0 || ids[g] >= experts) continue;
    const int32_t position = next[static_cast<size_t>(ids[g])]++;
    if (static_cast<size_t>(position) >= ids.size()) continue;  // counts that disagree with the ids
    metadata.col_sorted[static_cast<size_t>(position)] = static_cast<int32_t>(g);
    metadata.row_sorted[g] = position;
  }
}

void SumOffsets(RoutingMetadata& metadata) {
  metadata.expert_offsets.assign(metadata.col_sum.size() + 1, 0);
  for (size_t e = 0; e < metadata.col_sum.size(); ++e) {
    metadata.expert_offsets[e + 1] = metadata.expert_offsets[e] + metadata.col_sum[e];
  }
}

}  // namespace

RoutingMetadata MakeRoutingMetadata(std::span<const int32_t> ids, int64_t k, const Bitmatrix& matrix) {
  RoutingMetadata metadata;
  metadata.col_sum.assign(static_cast<size_t>(matrix.experts), 0);
  for (int64_t t = 0; t < std::min(matrix.rows, static_cast<int64_t>(ids.size()) / k); ++t) {
    for (int64_t e = 0; e < matrix.experts; ++e) {
      metadata.col_sum[static_cast<size_t>(e)] += matrix.Has(t, e) ? 1 : 0;
    }
  }
  SumOffsets(metadata);
  Place(ids, metadata);
  return metadata;
}

void GroupByExpert(std::span<const int32_t> ids, int64_t experts, RoutingMetadata& metadata) {
  metadata.col_sum.assign(static_cast<size_t>(experts), 0);
  for (const int32_t id : ids) {
    if (id >= 0 && id < experts) ++metadata.col_sum[static_cast<size_t>(id)];
  }
  SumOffsets(metadata);
  Place(ids, metadata);
}

std::vector<float> SortedGateWeights(const RoutingMetadata& metadata, std::span<const float> weights) {
  std::vector<float> sorted(metadata.col_sorted.size(), -1.0f);
  for (size_t p = 0; p < sorted.size(); ++p) {
    const int32_t g = metadata.col_sorted[p];
    if (g >= 0) sorted[p] = weights[static_cast<size_t>(g)];
  }
  return sorted;
}

int64_t MaxTiles(int64_t n_gates, int64_t experts, int64_t block) {
  // Fewer gates than experts: each gate its own tile. Otherwise every expert but one starts a tile with one
  // gate and the rest fill whole tiles of one expert.
  if (n_gates <= experts) return n_gates;
  return experts - 1 + (n_gates - experts + 1 + block - 1) / block;
}

std::vector<int32_t> BlockOffsets(std::span<const int32_t> col_sum, int64_t block) {
  std::vector<int32_t> offsets{0};
  for (const int32_t count : col_sum) {
    offsets.push_back(offsets.back() + static_cast<int32_t>((count + block - 1) / block));
  }
  return offsets;
}

std::vector<int32_t> BlockSchedule(std::span<const int32_t> col_sum, int64_t n_gates, int64_t block) {
  std::vector<int32_t> schedule;
  for (size_t e = 0; e < col_sum.size(); ++e) {
    for (int64_t tile = 0; tile * block < col_sum[e]; ++tile) {
      schedule.push_back(static_cast<int32_t>(tile << 16 | static_cast<int64_t>(e)));
    }
  }
  schedule.resize(static_cast<size_t>(MaxTiles(n_gates, static_cast<int64_t>(col_sum.size()), block)), -1);
  return schedule;
}

}  // namespace assay::kernels
