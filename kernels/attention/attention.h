#pragma once

#include <cstdint>
#include <span>

namespace assay::kernels {

// The keys and values of one layer and one key-value head, in blocks of `block_size` tokens (a multiple of
// 16). Keys of a block are [head_dim, block_size], so that 16 tokens' scores are one vector; values are
// [block_size, head_dim]. float32: the reference has to match float32 implementations, and the cache of the
// models that run on a CPU is small beside their weights.
struct PagedHead {
  float* keys;
  float* values;
  int64_t block_stride;  // elements from one block to the next, in both arrays
  int64_t block_size, head_dim;
};

// Puts one token's key and value [head_dim] at `slot` of `block`.
void StoreKeyValue(const PagedHead& cache, int64_t block, int64_t slot, const float* key, const float* value);

// Some rows of one sequence: `group` query heads that share one key-value head. Row r is at position start +
// r; its keys are all positions j with position - window < j <= position (window 0: all j <= position):
//   s_j = scale * q . k_j,  p_j = exp(s_j - m) / (sum_j exp(s_j - m) + exp(sink - m)),  out = sum_j p_j v_j.
struct AttentionRows {
  const float* q;  // [rows, q_stride]: head h at h * head_dim
  int64_t q_stride;
  float* out;  // [rows, out_stride]
  int64_t out_stride;
  int64_t rows, start, window;
  std::span<const int32_t> block_table;  // position p is in block_table[p / block_size]
  const float* sinks;                    // [group]
  int64_t group;
  float scale;
};

void AttentionReference(const PagedHead& cache, const AttentionRows& rows);
// Keys are taken 16 at a time at absolute positions, so a row's result does not depend on how its sequence
// was cut into calls. What lies in the cache beyond a row's position is never read into its result.
void Attention(const PagedHead& cache, const AttentionRows& rows);

}  // namespace assay::kernels
