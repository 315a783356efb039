#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/model/config.h"

namespace assay::engine {

// Layers that need the same positions share block ids and block tables: those that see everything, and those
// that see the last sliding_window positions.
enum LayerGroup : size_t { kFullLayers, kSlidingLayers, kLayerGroups };

inline int64_t LayersOf(LayerGroup group, const ModelConfig& config) {
  return std::count(config.sliding.begin(), config.sliding.end(), group == kSlidingLayers);
}

// The first position that a query at `position` of a sliding layer sees.
inline int64_t WindowBegin(int64_t position, int64_t window) {
  return std::max<int64_t>(0, position - window + 1);
}

}  // namespace assay::engine
