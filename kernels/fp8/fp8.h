#pragma once

#include <cstdint>
#include <span>

namespace assay::kernels {

// 8-bit floats: sign, four exponent bits, three mantissa bits, no infinities.
enum class Fp8 {
  kE4M3FN,    // OCP: bias 7, largest 448, NaN 0x7F and 0xFF, has -0
  kE4M3FNUZ,  // MI300: bias 8, largest 240, NaN 0x80, no -0. The same byte is half the FN value
};
constexpr float Fp8Largest(Fp8 format) {
  return format == Fp8::kE4M3FN ? 448.0f : 240.0f;
}

float DecodeFp8(Fp8 format, uint8_t byte);
// To the nearest, ties to the even mantissa; beyond the largest it saturates, infinities too. A NaN stays a
// NaN.
uint8_t EncodeFp8(Fp8 format, float value);

// FN bytes and their scale as FNUZ hardware reads them: -0, which is its NaN, becomes 0, and the scale
// doubles.
void ConvertFnToFnuz(std::span<uint8_t> bytes, float& scale);

// Static quantisation of activations, one scale a tensor. To codes, as numbers: x = decode(encode(x /
// scale)), which a bf16 holds exactly; their worth is x * scale.
void EncodeToFp8Reference(Fp8 format, float scale, int64_t n, float* x);
void EncodeToFp8(Fp8 format, float scale, int64_t n, float* x);
// To codes and back: x = decode(encode(x / scale)) * scale.
void RoundToFp8Reference(Fp8 format, float scale, int64_t n, float* x);
void RoundToFp8(Fp8 format, float scale, int64_t n, float* x);

}  // namespace assay::kernels
