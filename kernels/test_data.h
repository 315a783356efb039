#pragma once

// Inputs for kernel tests: seeded, with a few values far outside the rest.
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/bf16/bf16.h"

namespace assay::kernels {

class TestData {
 public:
  explicit TestData(uint32_t seed) : random_(seed) {}

  // Normal values; about one in 64 is 100 times as large.
  std::vector<float> Values(int64_t n, float scale = 1) {
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = Normal() * scale * (Below(64) == 0 ? 100.0f : 1.0f);
    return values;
  }
  std::vector<uint8_t> Bytes(int64_t n, int lowest = 0, int highest = 255) {
    std::vector<uint8_t> bytes(static_cast<size_t>(n));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(lowest + Below(highest - lowest + 1));
    return bytes;
  }
  float Normal() { return std::normal_distribution<float>()(random_); }
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

 private:
  std::mt19937 random_;
};

inline std::vector<Bf16> Rounded(const std::vector<float>& values) {
  std::vector<Bf16> rounded(values.size());
  for (size_t i = 0; i < values.size(); ++i) rounded[i] = ToBf16(values[i]);
  return rounded;
}
inline std::vector<float> Widened(const std::vector<Bf16>& values) {
  std::vector<float> wide(values.size());
  for (size_t i = 0; i < values.size(); ++i) wide[i] = FromBf16(values[i]);
  return wide;
}

}  // namespace assay::kernels
