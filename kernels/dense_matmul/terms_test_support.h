#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace assay::kernels {

// The size that errors of x[row, ..] . w[column, ..] are held against: what was added up, and 1 for a bias.
inline double SumOfTerms(const std::vector<float>& x, int64_t row, const std::vector<float>& w,
                         int64_t column, int64_t k) {
  double size = 1;
  for (int64_t j = 0; j < k; ++j)
    size += std::abs(x[static_cast<size_t>(row * k + j)] * w[static_cast<size_t>(column * k + j)]);
  return size;
}

}  // namespace assay::kernels
