#pragma once

#include <cstdint>

namespace assay::kernels {

// gpt-oss's gated unit: g = min(gate, limit), u = clamp(up, -limit, limit),
// y = g * sigmoid(1.702 g) * (u + 1). A NaN stays a NaN.
constexpr float kSwigluAlpha = 1.702f;

float SwigluReference(float gate, float up, float limit);
void Swiglu(const float* gate, const float* up, int64_t n, float limit, float* y);

}  // namespace assay::kernels
