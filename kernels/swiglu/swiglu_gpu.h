#pragma once

// For device code; kernels/swiglu/swiglu.h says what it computes.
#include "kernels/gpu/device.h"
#include "kernels/swiglu/swiglu.h"

namespace assay::kernels::gpu {

__device__ inline float Swiglu(float gate, float up, float limit) {
  if (isnan(gate) || isnan(up)) return gate + up;
  const float g = fminf(gate, limit), u = fmaxf(-limit, fminf(up, limit));
  return g / (1 + __expf(-kSwigluAlpha * g)) * (u + 1);
}

}  // namespace assay::kernels::gpu
