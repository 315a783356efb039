#pragma once

#include <cstdint>

#include "kernels/bf16/bf16.h"

namespace assay::kernels::gpu {

// RmsNorm of rows on the device. Output row t is of input row `rows[t]`, or t without `rows`.
struct RmsNormRows {
  // [n / slice][x_rows][slice]: the columns that each tensor-parallel rank has. slice == n: rows as they are.
  const float* x;
  int64_t x_rows, slice;
  const int32_t* rows;  // [count] or nullptr
  int64_t count, n;
  const float* weight;  // [n]
  double epsilon;
  // What it is for, each of them [count, n] or nullptr: a matrix product, static FP8 activations (the codes
  // of y / fp8_scale, which bf16 holds exactly), the router.
  Bf16* bf16;
  Bf16* fp8_codes;
  float fp8_scale;
  float* float32;
};
void RmsNorm(void* stream, const RmsNormRows& rows);

}  // namespace assay::kernels::gpu
