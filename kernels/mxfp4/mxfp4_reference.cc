#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/mxfp4/mxfp4.h"

namespace assay::kernels {
namespace {

constexpr float kE2M1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

// Nearest of the eight magnitudes; on a tie the one with mantissa bit 0, which has the even code.
uint8_t EncodeE2M1(float value) {
  const float magnitude = std::abs(value);
  int best = 0;
  for (int code = 1; code < 8; ++code) {
    const float better = std::abs(kE2M1[best] - magnitude) - std::abs(kE2M1[code] - magnitude);
    if (better > 0 || (better == 0 && code % 2 == 0)) best = code;
  }
  return static_cast<uint8_t>(best | (std::signbit(value) ? 8 : 0));
}

// The scale's exponent for the largest magnitude m > 0.
int ScaleExponent(float m, Mxfp4Scale rule) {
  int exponent = 0;
  const float fraction = std::frexp(m, &exponent);  // m = fraction * 2^exponent, 0.5 <= fraction < 1
  if (rule == Mxfp4Scale::kOcp) return exponent - 1 - 2;
  return fraction <= 0.75f ? exponent - 3 : exponent - 2;  // 6 = 0.75 * 2^3
}

}  // namespace

float DecodeE2M1(uint8_t nibble) {
  return (nibble & 8) != 0 ? -kE2M1[nibble & 7] : kE2M1[nibble & 7];
}

float DecodeE8M0(uint8_t byte) {
  return byte == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, byte - 127);
}

void DecodeMxfp4(const uint8_t* blocks, const uint8_t* scales, int64_t count, float* values) {
  for (int64_t b = 0; b < count; ++b) {
    const float scale = DecodeE8M0(scales[b]);
    for (int64_t i = 0; i < kMxBlock; ++i) {
      const uint8_t byte = blocks[b * kMxBlockBytes + i / 2];
      const int nibble = i % 2 == 0 ? byte & 15 : byte >> 4;
      values[b * kMxBlock + i] = DecodeE2M1(static_cast<uint8_t>(nibble)) * scale;
    }
  }
}

void EncodeMxfp4(const float* values, int64_t count, Mxfp4Scale rule, uint8_t* blocks, uint8_t* scales) {
  for (int64_t b = 0; b < count; ++b) {
    const float* block = values + b * kMxBlock;
    float largest = 0;
    bool finite = true;
    for (int64_t i = 0; i < kMxBlock; ++i) {
      finite = finite && std::isfinite(block[i]);
      largest = std::max(largest, std::abs(block[i]));
    }
    const int exponent = finite && largest > 0 ? std::clamp(ScaleExponent(largest, rule), -127, 127) : -127;
    scales[b] = finite ? static_cast<uint8_t>(exponent + 127) : 255;
    for (int64_t i = 0; i < kMxBlock; i += 2) {
      const float low = finite ? std::ldexp(block[i], -exponent) : 0;
      const float high = finite ? std::ldexp(block[i + 1], -exponent) : 0;
      blocks[b * kMxBlockBytes + i / 2] =
          static_cast<uint8_t>(EncodeE2M1(low) | static_cast<uint8_t>(EncodeE2M1(high) << 4));
    }
  }
}

}  // namespace assay::kernels
