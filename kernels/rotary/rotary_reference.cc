#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "kernels/rotary/rotary.h"

namespace assay::kernels {
namespace {

// The dimension whose wave turns `rotations` times within the original context.
double RampEnd(const YarnOptions& options, double rotations) {
  const double half = static_cast<double>(options.head_dim) / 2;
  const double wavelength =
      static_cast<double>(options.original_max_position) / (rotations * 2 * std::numbers::pi);
  return half * std::log(wavelength) / std::log(options.theta);
}

}  // namespace

double YarnConcentration(double factor) {
  return factor <= 1 ? 1.0 : 0.1 * std::log(factor) + 1;
}

std::vector<float> YarnInverseFrequencies(const YarnOptions& options) {
  const int64_t half = options.head_dim / 2;
  double low = RampEnd(options, options.beta_fast), high = RampEnd(options, options.beta_slow);
  if (options.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(options.head_dim - 1));
  if (low == high) high += 0.001;
  std::vector<float> inverse;
  for (int64_t i = 0; i < half; ++i) {
    const double turn =
        std::pow(options.theta, -2.0 * static_cast<double>(i) / static_cast<double>(options.head_dim));
    const double slow = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    inverse.push_back(static_cast<float>(turn / options.factor * slow + turn * (1 - slow)));
  }
  return inverse;
}

RotaryTable MakeRotaryTable(const YarnOptions& options, int64_t positions) {
  CHECK_EQ(options.head_dim % 2, 0);
  const std::vector<float> inverse = YarnInverseFrequencies(options);
  const double concentration = YarnConcentration(options.factor);
  RotaryTable table{options.head_dim, positions, {}, {}};
  for (int64_t position = 0; position < positions; ++position) {
    for (const float turn : inverse) {
      const double angle = static_cast<float>(position) * turn;
      table.cos.push_back(static_cast<float>(std::cos(angle) * concentration));
      table.sin.push_back(static_cast<float>(std::sin(angle) * concentration));
    }
  }
  return table;
}

void RotaryReference(const RotaryTable& table, int64_t position, int64_t heads, float* row) {
  const int64_t half = table.head_dim / 2;
  const float* cos = table.cos.data() + position * half;
  const float* sin = table.sin.data() + position * half;
  for (int64_t h = 0; h < heads; ++h, row += table.head_dim) {
    for (int64_t i = 0; i < half; ++i) {
      const double a = row[i], b = row[i + half];
      row[i] = static_cast<float>(a * cos[i] - b * sin[i]);
      row[i + half] = static_cast<float>(b * cos[i] + a * sin[i]);
    }
  }
}

}  // namespace assay::kernels
