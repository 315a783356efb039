#include <cmath>

#include "kernels/rms_norm/rms_norm.h"

namespace assay::kernels {

void RmsNormReference(const float* x, int64_t rows, int64_t n, const float* weight, double epsilon,
                      float* y) {
  for (int64_t t = 0; t < rows; ++t, x += n, y += n) {
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * x[i];
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] * inverse * weight[i]);
  }
}

}  // namespace assay::kernels
