#pragma once

#include <cstdint>
#include <memory>

#include "kernels/bf16/bf16.h"

namespace assay::kernels::gpu {

// y[t, n] = sum over k of x[t, k] * w[n, k] + bias[n], summed in float32.
struct DenseMatmul {
  const Bf16* x;        // [rows, k]
  int64_t rows, k;      // k is a multiple of 8
  const Bf16* weights;  // [columns, k]
  int64_t columns;      // even
  // [columns], or nullptr both: the same numbers twice, because a library takes those of y's type.
  const float* bias;
  const Bf16* bias_bf16;
  // One of them: rounded, or float32, set or added to.
  Bf16* y_bf16;
  float* y_float32;
  bool add;
};

// Who multiplies.
class DenseBackend {
 public:
  virtual ~DenseBackend() = default;
  virtual void Multiply(void* stream, const DenseMatmul& product) = 0;
};
// At most 16 rows by vector loads of weights, and more by `otherwise`.
std::unique_ptr<DenseBackend> MakeFewRowsBackend(std::unique_ptr<DenseBackend> otherwise);
// Our own tiles: a row's result does not depend on the rows beside it.
std::unique_ptr<DenseBackend> MakeTileBackend();
// The vendor's library, which chooses another order of additions for another number of rows. Nothing where
// this was built without one.
std::unique_ptr<DenseBackend> MakeLibraryBackend();

}  // namespace assay::kernels::gpu
