#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/routing/metadata.h"

namespace assay::kernels {

// What must hold between a routing's ids, bits, counts and places, however it was computed. Each broken one
// is a line that names it; an empty answer means that all hold. Padding rows are rows like any other here.
struct RoutingResult {
  int64_t tokens, experts, k;
  std::span<const int32_t> ids;    // [tokens, k]
  std::span<const float> weights;  // [tokens, k]
  const Bitmatrix* matrix;
  const RoutingMetadata* metadata;
};
std::vector<std::string> RoutingViolations(const RoutingResult& routing);

// Every (expert, tile) exactly once, nothing else, -1 after the last.
std::vector<std::string> ScheduleViolations(std::span<const int32_t> col_sum, int64_t block,
                                            std::span<const int32_t> schedule);

}  // namespace assay::kernels
