#pragma once

#include <cstdint>

#include "kernels/attention/attention_gpu.h"

namespace assay::kernels::gpu {

// Turns the queries of each row in place and puts its turned key, and its value, into the cache. A row is
// [query heads | key heads | value heads], head_dim each.
struct RotaryRows {
  Bf16* qkv;  // [count, (heads + 2 * kv_heads) * head_dim]
  int64_t count, heads;
  const float* cos;  // [positions, head_dim / 2]
  const float* sin;
  const int32_t* positions;  // [count]; negative: a padding row, which is left alone
  PagedCache cache;
  BlockTables tables;
};
void RotateAndStore(void* stream, const RotaryRows& rows);

}  // namespace assay::kernels::gpu
