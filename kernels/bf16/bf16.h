#pragma once

#include <bit>
#include <cstdint>

namespace assay::kernels {

// The upper half of a float32.
using Bf16 = uint16_t;

inline float FromBf16(Bf16 bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// Nearest, ties to even; a NaN stays a NaN.
inline Bf16 ToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FC0;
  return static_cast<Bf16>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

// Activations of a matrix product in one or two terms of bf16. The first is x rounded; the second is what
// rounding took away, rounded in turn, so that the sum has 16 significant bits. Products with bf16 weights
// are exact in float32 either way. `low` is not touched when there is one term.
void SplitToBf16(const float* in, int64_t n, int64_t terms, Bf16* high, Bf16* low);

// The sum of those terms, which float32 holds exactly.
void RoundToBf16(const float* in, int64_t n, int64_t terms, float* out);

}  // namespace assay::kernels
