#pragma once

// For device code: what becomes of a sum of a dense product.
#include "kernels/dense_matmul/dense_matmul_gpu.h"
#include "kernels/gpu/device.h"

namespace assay::kernels::gpu {

// Two columns of a row; what lies beyond the product is passed over.
__device__ inline void StoreDense(const DenseMatmul& in, int64_t row, int column, float first, float second) {
  if (row >= in.rows || column >= in.columns) return;
  if (in.bias != nullptr) {
    first += in.bias[column];
    second += in.bias[column + 1];
  }
  const int64_t at = row * in.columns + column;
  if (in.y_bf16 != nullptr) {
    *reinterpret_cast<uint32_t*>(in.y_bf16 + at) = NarrowPair(first, second);
  } else {
    float2* y = reinterpret_cast<float2*>(in.y_float32 + at);
    const float2 before = in.add ? *y : float2{0, 0};
    *y = {before.x + first, before.y + second};
  }
}

}  // namespace assay::kernels::gpu
