#pragma once

#include <vector>

namespace assay::record {

// How far a new run lies from earlier ones, as a log ratio signed so that positive is worse.
struct RunChange {
  double mean = 0;  // log(candidate) - mean(log(baseline)), positive = worse
  double low = 0;   // 95 % prediction interval of that difference if the new run were one more of the old
  double high = 0;
  double noise = 0;           // half the width: a change below it is what runs do anyway
  double standard_error = 0;  // s sqrt(1 + 1/n)
  double degrees_of_freedom = 0;
};
// One-sided evidence that the change is above `limit`: P(T >= (mean - limit) / standard_error).
double PValueAbove(const RunChange& change, double limit);

// Baseline values and the candidate must be positive; needs two baseline runs. With n of them the interval's
// half width is t_{0.975, n-1} s sqrt(1 + 1/n): the new run's own noise and that of the baseline's mean.
RunChange ChangeAgainstRuns(double candidate, const std::vector<double>& baseline, bool higher_is_better);

// s sqrt(1 + 1/n) for the spread s of n values, and t_{0.975, n-1} times that.
double PredictionError(const std::vector<double>& values);
double PredictionHalfWidth(const std::vector<double>& values);

}  // namespace assay::record
