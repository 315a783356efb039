#pragma once

#include <cstdint>
#include <vector>

namespace assay::record {

// What equal code differs by, from pairs of runs of the same code: log ratios, whose mean is known to be
// zero.
struct NoiseFloor {
  int64_t pairs = 0;
  double sigma = 0;        // of one log ratio: sqrt(sum x^2 / k)
  double sigma_upper = 0;  // upper 95 % bound of it, sqrt(k sigma^2 / chi2_{0.05, k})
  double floor = 0;        // t_{0.975, k} sigma: one more such pair stays below it 39 times in 40
};
// Values of one speed, a list for each code, as log ratios that each vary like that of one pair: for two runs
// their log ratio, for r runs r - 1 of them, independent of each other (Helmert's contrasts).
std::vector<double> EqualCodeLogRatios(const std::vector<std::vector<double>>& runs_of_each_code);

// Needs one pair.
NoiseFloor NoiseFloorOf(const std::vector<double>& log_ratios);

}  // namespace assay::record
