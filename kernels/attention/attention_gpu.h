#pragma once

#include <cstdint>

#include "kernels/bf16/bf16.h"

// Members that both sides call.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define ASSAY_BOTH_SIDES __host__ __device__
#else
#define ASSAY_BOTH_SIDES
#endif

namespace assay::kernels::gpu {

// A code of the FP8 format E4M3FN (kernels/fp8/fp8.h).
using E4M3 = uint8_t;

// Keys and values of one layer: [block][key, value][kv head][slot][head_dim], so that a head's part of a
// block lies together and a key is one line of memory.
struct PagedCache {
  void* memory;  // Bf16, or E4M3 where `fp8`
  int64_t kv_heads, block_size, head_dim;
  bool fp8 = false;
  float key_scale = 1, value_scale = 1;  // a number is its code times this; 1 of bf16

  ASSAY_BOTH_SIDES int64_t BlockElements() const { return 2 * kv_heads * block_size * head_dim; }
  template <class Number>
  ASSAY_BOTH_SIDES Number* Key(int64_t block, int64_t kv_head, int64_t slot) const {
    return static_cast<Number*>(memory) + block * BlockElements() + (kv_head * block_size + slot) * head_dim;
  }
  template <class Number>
  ASSAY_BOTH_SIDES Number* Value(int64_t block, int64_t kv_head, int64_t slot) const {
    return Key<Number>(block, kv_head + kv_heads, slot);
  }
};

// Which block holds a position of a row's sequence.
struct BlockTables {
  const int32_t* tables;  // [sequences, stride]
  int64_t stride;
  const int32_t* sequence_of;  // [rows]

  ASSAY_BOTH_SIDES int64_t Block(int64_t row, int64_t position, int64_t block_size) const {
    return tables[sequence_of[row] * stride + position / block_size];
  }
};

// Attention as kernels/attention/attention.h defines it, of any rows of any sequences. The keys that a row
// sees are cut into `splits` runs that are attended apart and merged in order: a row alone fills the device
// that way. Codes of an FP8 cache are multiplied as they are: the keys' scale goes to the scores and the
// values' to the result, so that no number is rounded again.
struct AttentionBatch {
  const Bf16* q;  // [rows, q_stride]: head h at h * head_dim
  int64_t q_stride;
  Bf16* out;  // [rows, heads * head_dim]
  int64_t rows, heads;
  const int32_t* positions;  // [rows]; negative: a padding row, of which nothing is read and nothing written
  PagedCache cache;
  BlockTables tables;
  const float* sinks;  // [heads]
  int64_t window;      // 0: all earlier positions
  float scale;
  // Written and read here: [rows, heads, splits, head_dim + 2] numbers.
  float* partial;
  int64_t splits;
};
int64_t AttentionPartials(int64_t rows, int64_t heads, int64_t splits, int64_t head_dim);
// How many runs fill `multiprocessors` with this many rows, when the longest row sees `longest` keys.
int64_t AttentionSplits(int64_t rows, int64_t kv_heads, int64_t longest, int64_t multiprocessors);
// head_dim is 16, 32, 64 or 128.
void Attention(void* stream, const AttentionBatch& batch);

}  // namespace assay::kernels::gpu
