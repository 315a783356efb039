#include <cmath>

#include "kernels/swiglu/swiglu.h"

namespace assay::kernels {

float SwigluReference(float gate, float up, float limit) {
  if (std::isnan(gate) || std::isnan(up)) return gate + up;
  const double g = std::fmin(gate, limit);
  const double u = std::fmax(-limit, std::fmin(up, limit));
  return static_cast<float>(g / (1 + std::exp(-static_cast<double>(kSwigluAlpha) * g)) * (u + 1));
}

}  // namespace assay::kernels
