#include "record/noise_floor.h"

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "record/distributions.h"

namespace assay::record {

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
