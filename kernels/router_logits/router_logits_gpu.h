#pragma once

#include <cstdint>

namespace assay::kernels::gpu {

// logits[t, e] = sum over i of x[t, i] * w[e, i] + bias[e], all in float32, as kernels/router_logits has it.
struct RouterProduct {
  const float* x;        // [rows, hidden]
  int64_t rows, hidden;  // hidden is a multiple of 4
  const float* weights;  // [experts, hidden]
  const float* bias;     // [experts]
  int64_t experts;
  float* logits;  // [rows, experts]
};
void RouterLogits(void* stream, const RouterProduct& product);

}  // namespace assay::kernels::gpu
