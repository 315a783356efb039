#include "record/noise_floor.h"

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "record/distributions.h"

namespace assay::record {

std::vector<double> EqualCodeLogRatios(const std::vector<std::vector<double>>& runs_of_each_code) {
  std::vector<double> ratios;
  for (const std::vector<double>& runs : runs_of_each_code) {
    double sum = 0;
    for (size_t before = 0; before < runs.size(); ++before) {
      CHECK_GT(runs[before], 0.0);
      const double value = std::log(runs[before]);
      if (before > 0) {
        const auto n = static_cast<double>(before);
        ratios.push_back((value - sum / n) * std::sqrt(2 * n / (n + 1)));
      }
      sum += value;
    }
  }
  return ratios;
}

NoiseFloor NoiseFloorOf(const std::vector<double>& log_ratios) {
  CHECK(!log_ratios.empty());
  const double squares = std::inner_product(log_ratios.begin(), log_ratios.end(), log_ratios.begin(), 0.0);
  const auto k = static_cast<double>(log_ratios.size());
  NoiseFloor noise{.pairs = static_cast<int64_t>(log_ratios.size()), .sigma = std::sqrt(squares / k)};
  noise.sigma_upper = std::sqrt(squares / ChiSquaredQuantile(0.05, k));
  noise.floor = StudentQuantile(0.975, k) * noise.sigma;
  return noise;
}

}  // namespace assay::record
