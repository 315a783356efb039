#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attention/attention.h"

namespace assay::kernels {
namespace {

void AttendOne(const PagedHead& cache, const AttentionRows& in, const float* q, int64_t position, double sink,
               float* out) {
  const auto block = [&](int64_t j) {
    return static_cast<int64_t>(in.block_table[static_cast<size_t>(j / cache.block_size)]) *
           cache.block_stride;
  };
  const int64_t first = in.window > 0 ? std::max<int64_t>(0, position - in.window + 1) : 0;
  std::vector<double> scores;
  double largest = sink;
  for (int64_t j = first; j <= position; ++j) {
    const float* keys = cache.keys + block(j) + j % cache.block_size;
    double score = 0;
    for (int64_t d = 0; d < cache.head_dim; ++d)
      score += static_cast<double>(q[d]) * keys[d * cache.block_size];
    scores.push_back(score * in.scale);
    largest = std::max(largest, scores.back());
  }
  double sum = std::exp(sink - largest);
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (int64_t d = 0; d < cache.head_dim; ++d) {
    double weighted = 0;
    for (int64_t j = first; j <= position; ++j) {
      const float* values = cache.values + block(j) + j % cache.block_size * cache.head_dim;
      weighted += scores[static_cast<size_t>(j - first)] / sum * values[d];
    }
    out[d] = static_cast<float>(weighted);
  }
}

}  // namespace

void StoreKeyValue(const PagedHead& cache, int64_t block, int64_t slot, const float* key,
                   const float* value) {
  float* keys = cache.keys + block * cache.block_stride + slot;
  for (int64_t d = 0; d < cache.head_dim; ++d) keys[d * cache.block_size] = key[d];
  std::copy(value, value + cache.head_dim, cache.values + block * cache.block_stride + slot * cache.head_dim);
}

void AttentionReference(const PagedHead& cache, const AttentionRows& in) {
  for (int64_t r = 0; r < in.rows; ++r) {
    for (int64_t h = 0; h < in.group; ++h) {
      const int64_t offset = h * cache.head_dim;
      AttendOne(cache, in, in.q + r * in.q_stride + offset, in.start + r, in.sinks[h],
                in.out + r * in.out_stride + offset);
    }
  }
}

}  // namespace assay::kernels
