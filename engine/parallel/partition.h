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

// A worker is one thread of one tensor-parallel rank. Ranks share memory, so that what a GPU rank would
// gather from its peers is read in place after a barrier.
struct Worker {
  int64_t rank = 0, ranks = 1;
  int64_t thread = 0, threads = 1;  // within the rank

  int64_t Index() const { return rank * threads + thread; }
  // This worker's part of `total` heads, expert blocks or output columns: the rank's slice, cut by thread.
  Range Own(int64_t total) const { return Split(Split({0, total}, rank, ranks), thread, threads); }
};

}  // namespace assay::engine
