#include "evals/serving/warm_up.h"

#include <cmath>

namespace assay::evals {
namespace {

constexpr double kTolerance = 0.1;

}  // namespace

bool IsSteady(const std::vector<double>& wave_ttft_ms) {
  const size_t n = wave_ttft_ms.size();
  if (n < 3) return false;
  const auto close = [&](size_t i) {
    return std::abs(wave_ttft_ms[i] - wave_ttft_ms[i - 1]) <= kTolerance * wave_ttft_ms[i - 1];
  };
  return close(n - 1) && close(n - 2);
}

int WarmUpUntilSteady(const std::function<double(int index)>& wave) {
  std::vector<double> ttft_ms;
  for (int index = 0; index < kMostWarmUpWaves; ++index) {
    const double median = wave(index);
    if (median < 0) return index + 1;
    ttft_ms.push_back(median);
    if (IsSteady(ttft_ms)) return index + 1;
  }
  return kMostWarmUpWaves;
}

}  // namespace assay::evals
