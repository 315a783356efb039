#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/fp8/fp8.h"

namespace assay::kernels {
namespace {

int Bias(Fp8 format) {
  return format == Fp8::kE4M3FN ? 7 : 8;
}

bool IsNan(Fp8 format, uint8_t byte) {
  return format == Fp8::kE4M3FN ? (byte & 0x7F) == 0x7F : byte == 0x80;
}

}  // namespace

float DecodeFp8(Fp8 format, uint8_t byte) {
  if (IsNan(format, byte)) return std::numeric_limits<float>::quiet_NaN();
  const int exponent = byte >> 3 & 15, mantissa = byte & 7;
  const float size = exponent == 0
                         ? std::ldexp(static_cast<float>(mantissa), 1 - Bias(format) - 3)
                         : std::ldexp(static_cast<float>(8 + mantissa), exponent - Bias(format) - 3);
  return (byte & 0x80) != 0 ? -size : size;
}

uint8_t EncodeFp8(Fp8 format, float value) {
  if (std::isnan(value)) return format == Fp8::kE4M3FN ? 0x7F : 0x80;
  const float size = std::min(std::abs(value), Fp8Largest(format));
  // In units of the last mantissa bit; the exponent is at least that of the subnormals.
  const int exponent = size == 0 ? 0 : std::max(std::ilogb(size) + Bias(format), 1);
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(size, 3 + Bias(format) - exponent)));
  // 8 units are the hidden bit of a normal number, and 16 carry into the exponent.
  const int magnitude = exponent == 0 ? 0 : (exponent - 1) * 8 + units;
  const bool negative = std::signbit(value) && (magnitude != 0 || format == Fp8::kE4M3FN);
  return static_cast<uint8_t>(magnitude | (negative ? 0x80 : 0));
}

void ConvertFnToFnuz(std::span<uint8_t> bytes, float& scale) {
  for (uint8_t& byte : bytes) {
    if (byte == 0x7F || byte == 0xFF) {
      byte = 0x80;  // NaN
    } else if (byte == 0x80) {
      byte = 0;
    }
  }
  scale *= 2;
}

void EncodeToFp8Reference(Fp8 format, float scale, int64_t n, float* x) {
  for (int64_t i = 0; i < n; ++i) x[i] = DecodeFp8(format, EncodeFp8(format, x[i] / scale));
}

void RoundToFp8Reference(Fp8 format, float scale, int64_t n, float* x) {
  EncodeToFp8Reference(format, scale, n, x);
  for (int64_t i = 0; i < n; ++i) x[i] *= scale;
}

}  // namespace assay::kernels
