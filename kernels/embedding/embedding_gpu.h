#pragma once

#include <cstdint>

#include "kernels/bf16/bf16.h"

namespace assay::kernels::gpu {

// x[t] = table[tokens[t]], tables of bf16. A negative token is a padding row: zeros, or with `poison`
// infinities and NaNs, for tests that look where they might reach.
struct EmbeddingRows {
  const Bf16* table;      // [vocabulary, hidden]
  const int32_t* tokens;  // [count]
  int64_t count, hidden;
  float* x;  // [count, hidden]
  bool poison;
};
void Embed(void* stream, const EmbeddingRows& rows);

}  // namespace assay::kernels::gpu
