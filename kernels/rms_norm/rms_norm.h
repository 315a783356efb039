#pragma once

#include <cstdint>

namespace assay::kernels {

// y[t, i] = x[t, i] * w[i] / sqrt(mean over i of x[t, i]^2 + epsilon), in float32.
void RmsNormReference(const float* x, int64_t rows, int64_t n, const float* weight, double epsilon, float* y);
// The sum of squares runs over 16 lanes and then a fixed tree; any n.
void RmsNorm(const float* x, int64_t rows, int64_t n, const float* weight, double epsilon, float* y);

}  // namespace assay::kernels
