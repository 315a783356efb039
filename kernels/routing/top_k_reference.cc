#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/routing/top_k.h"

namespace assay::kernels {
namespace {

bool Before(const float* logits, int32_t a, int32_t b) {
  const bool a_nan = std::isnan(logits[a]), b_nan = std::isnan(logits[b]);
  if (a_nan != b_nan) return b_nan;
  if (!a_nan && logits[a] != logits[b]) return logits[a] > logits[b];
  return a < b;
}

}  // namespace

void TopKReference(const TopKShape& shape, const float* logits, std::span<const uint8_t> is_padding,
                   int32_t* ids, float* weights) {
  const auto k = static_cast<size_t>(shape.k);
  for (int64_t t = 0; t < shape.tokens; ++t, logits += shape.experts, ids += k, weights += k) {
    if (!is_padding.empty() && is_padding[static_cast<size_t>(t)] != 0) {
      std::fill_n(ids, k, -1);
      std::fill_n(weights, k, 0.0f);
      continue;
    }
    std::vector<int32_t> order(static_cast<size_t>(shape.experts));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return Before(logits, a, b); });
    const float largest = logits[order[0]];
    std::sort(order.begin(), order.begin() + shape.k);
    double sum = 0;
    for (size_t j = 0; j < k; ++j) sum += std::exp(static_cast<double>(logits[order[j]]) - largest);
    for (size_t j = 0; j < k; ++j) {
      ids[j] = order[j];
      weights[j] = static_cast<float>(std::exp(static_cast<double>(logits[order[j]]) - largest) / sum);
    }
  }
}

}  // namespace assay::kernels
