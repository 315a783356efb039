#include "engine/scheduler/padding.h"

#include <algorithm>

namespace assay::engine {

std::vector<int64_t> CaptureSizes(int64_t limit) {
  std::vector<int64_t> sizes;
  const auto add = [&](int64_t size) {
    if (size <= limit) sizes.push_back(size);
  };
  for (const int64_t size : {1, 2, 4}) add(size);
  for (int64_t size = 8; size < 256; size += 8) add(size);
  for (int64_t size = 256; size <= limit; size += 16) add(size);
  return sizes;
}

int64_t PaddedRows(int64_t rows, const std::vector<int64_t>& sizes) {
  const auto size = std::lower_bound(sizes.begin(), sizes.end(), rows);
  return size == sizes.end() ? rows : *size;
}

}  // namespace assay::engine
