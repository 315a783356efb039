#pragma once

#include <cmath>

namespace assay::kernels {

// How far a fast kernel may be from its reference, for tests: |fast - reference| <= absolute * scale +
// relative
// * |reference|, where scale is the size of what was added up (sum of |terms| for a product of matrices).
struct Tolerance {
  double absolute, relative;
};

// One row a kind of arithmetic.
constexpr Tolerance kExact{0, 0};
constexpr Tolerance kFloat32{2e-6, 2e-6};               // same inputs, other order of additions
constexpr Tolerance kBf16Activations{1.0 / 256, 1e-5};  // inputs rounded to 8 significant bits
constexpr Tolerance kBf16Pairs{2e-5, 1e-5};             // inputs rounded to 16
constexpr Tolerance kInt8Activations{1.0 / 64, 1e-5};   // rounded to 1/254 of the largest of 32
constexpr Tolerance kExponential{1e-6, 4e-6};           // polynomial exp against std::exp

inline bool Close(double fast, double reference, const Tolerance& tolerance, double scale = 1) {
  if (std::isnan(reference)) return std::isnan(fast);
  if (std::isinf(reference)) return fast == reference;
  return std::abs(fast - reference) <= tolerance.absolute * scale + tolerance.relative * std::abs(reference);
}

}  // namespace assay::kernels
