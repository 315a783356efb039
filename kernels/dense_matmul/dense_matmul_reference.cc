#include "kernels/dense_matmul/dense_matmul.h"

namespace assay::kernels {

void DenseMatmulReference(const float* x, int64_t rows, int64_t k, const float* weights, const float* bias,
                          int64_t columns, float* y) {
  for (int64_t t = 0; t < rows; ++t) {
    for (int64_t n = 0; n < columns; ++n) {
      double sum = bias != nullptr ? bias[n] : 0;
      for (int64_t i = 0; i < k; ++i) sum += static_cast<double>(x[t * k + i]) * weights[n * k + i];
      y[t * columns + n] = static_cast<float>(sum);
    }
  }
}

}  // namespace assay::kernels
