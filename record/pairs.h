#pragma once

#include <cstdint>
#include <vector>

// Two arms measured in pairs, one run of each beside the other: what a machine does to both cancels.
namespace assay::record {

// Log ratios of the pairs, head over base, signed so that positive is worse.
std::vector<double> LogRatios(const std::vector<double>& base, const std::vector<double>& head,
                              bool higher_is_better);

// Their mean and its standard error, s / sqrt(n). Needs two pairs.
struct PairChange {
  int64_t pairs = 0;
  double mean = 0;
  double standard_error = 0;
};
PairChange ChangeOverPairs(const std::vector<double>& log_ratios);

// t(1 - tail, n - 1) standard errors: how far the truth lies above the mean with chance `tail`, and below it
// with the same. Infinite for a tail of 0.
double PairHalfWidth(const PairChange& change, double tail);

// Student's test, one-sided: how likely so large a mean is where the truth is `limit`.
double PairPValue(const PairChange& change, double limit);

}  // namespace assay::record
