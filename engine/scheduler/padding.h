#pragma once

#include <cstdint>
#include <vector>

namespace assay::engine {

// Batch sizes that a graph-replaying engine captures: 1, 2, 4, then steps of 8 below 256 and of 16 from
// there, up to `limit`.
std::vector<int64_t> CaptureSizes(int64_t limit);

// The smallest captured size that holds `rows`; `rows` itself beyond the largest.
int64_t PaddedRows(int64_t rows, const std::vector<int64_t>& sizes);

}  // namespace assay::engine
