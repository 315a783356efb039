#pragma once

#include <algorithm>
#include <cstdint>

namespace assay::engine {

// [begin, end).
struct Range {
  int64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

// Part `index` of `parts` of `whole`, contiguous; sizes differ by at most one.
inline Range Split(Range whole, int64_t index, int64_t parts) {
  const int64_t size = whole.end - whole.begin;
  return {whole.begin + size * index / parts, whole.begin + size * (index + 1) / parts};
}

}  // namespace assay::engine
