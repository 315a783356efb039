#pragma once

#include <cstdint>
#include <vector>

namespace assay::kernels {

// YaRN as gpt-oss uses it. Without `truncate` the ramp's ends are not rounded to whole dimensions.
struct YarnOptions {
  int64_t head_dim;
  double theta, factor, beta_fast, beta_slow;
  int64_t original_max_position;
  bool truncate;
};

// [head_dim / 2]. Dimension i turns by theta^(-2i / head_dim) a position, or by that over `factor` where the
// wavelength is long, or by a mix of both in between:
//   ramp(beta) = half * ln(original_max_position / (beta * 2 pi)) / ln(theta), low = ramp(beta_fast),
//   high = ramp(beta_slow), weight of the slow turn = clamp((i - low) / (high - low), 0, 1).
std::vector<float> YarnInverseFrequencies(const YarnOptions& options);
// 0.1 ln(factor) + 1; multiplies cos and sin.
double YarnConcentration(double factor);

// cos and sin [positions, head_dim / 2], angle = position * inverse frequency in float32.
struct RotaryTable {
  int64_t head_dim = 0, positions = 0;
  std::vector<float> cos, sin;
};
RotaryTable MakeRotaryTable(const YarnOptions& options, int64_t positions);

// Turns `heads` heads in place, head h at row + h * head_dim. Pairs are (i, i + head_dim / 2):
// a' = a cos - b sin, b' = b cos + a sin.
void RotaryReference(const RotaryTable& table, int64_t position, int64_t heads, float* row);
void Rotary(const RotaryTable& table, int64_t position, int64_t heads, float* row);

}  // namespace assay::kernels
