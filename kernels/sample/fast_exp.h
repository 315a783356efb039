#pragma once

#include <bit>
#include <cstdint>

namespace assay::kernels {

// e^x for x <= 0 within 1e-5 relative, 0 below about -87. Plain arithmetic instead of libm: sampled tokens do
// not depend on the C library or the device, and a loop over it becomes vector code. constexpr, so that
// device code may call it.
constexpr float FastExp(float x) {
  constexpr float kLog2E = 1.44269504f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  constexpr float kLowest = -126.0f;
  const float exponent = x * kLog2E;
  const bool vanishes = !(exponent > kLowest);
  const float t = vanishes ? kLowest : exponent;
  const float whole = (t + kRound) - kRound;
  const float f = t - whole;  // [-0.5, 0.5]; 2^f = sum of (f ln 2)^n / n!
  const float p =
      1.0f +
      f * (0.693147181f +
           f * (0.240226507f +
                f * (0.0555041087f + f * (0.00961812911f + f * (0.00133335581f + f * 0.000154035304f)))));
  const float power = std::bit_cast<float>((static_cast<int32_t>(whole) + 127) << 23);
  return vanishes ? 0.0f : p * power;
}

}  // namespace assay::kernels
