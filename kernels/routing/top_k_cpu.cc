#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "kernels/routing/top_k.h"

namespace assay::kernels {
namespace {

constexpr int64_t kMaxK = 32;

// A logit and its expert as one integer whose order is the order of choice. NaN becomes 0, the lowest; -0 and
// +0 are equal; the complement of the id lets the lower id win a tie.
uint64_t Key(float logit, int64_t expert) {
  const auto bits = std::bit_cast<uint32_t>(logit == 0 ? 0.0f : logit);
  const uint32_t ordered = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  const uint32_t value = std::isnan(logit) ? 0 : ordered;
  return static_cast<uint64_t>(value) << 32 | (0xFFFFFFFFu - static_cast<uint32_t>(expert));
}

void SelectRow(const TopKShape& shape, const float* logits, int32_t* ids, float* weights) {
  uint64_t best[kMaxK];  // descending
  int64_t found = 0;
  for (int64_t e = 0; e < shape.experts; ++e) {
    const uint64_t key = Key(logits[e], e);
    if (found == shape.k && key < best[found - 1]) continue;
    int64_t at = found < shape.k ? found++ : found - 1;
    for (; at > 0 && best[at - 1] < key; --at) best[at] = best[at - 1];
    best[at] = key;
  }
  for (int64_t j = 0; j < shape.k; ++j)
    ids[j] = static_cast<int32_t>(0xFFFFFFFFu - static_cast<uint32_t>(best[j]));
  const float largest = logits[ids[0]];
  std::sort(ids, ids + shape.k);
  float sum = 0;
  for (int64_t j = 0; j < shape.k; ++j) sum += weights[j] = std::exp(logits[ids[j]] - largest);
  for (int64_t j = 0; j < shape.k; ++j) weights[j] /= sum;
}

}  // namespace

void TopK(const TopKShape& shape, const float* logits, std::span<const uint8_t> is_padding, int32_t* ids,
          float* weights) {
  CHECK_LE(shape.k, std::min(shape.experts, kMaxK));
  for (int64_t t = 0; t < shape.tokens; ++t) {
    if (!is_padding.empty() && is_padding[static_cast<size_t>(t)] != 0) {
      std::fill_n(ids + t * shape.k, shape.k, -1);
      std::fill_n(weights + t * shape.k, shape.k, 0.0f);
    } else {
      SelectRow(shape, logits + t * shape.experts, ids + t * shape.k, weights + t * shape.k);
    }
  }
}

}  // namespace assay::kernels
