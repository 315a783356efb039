#pragma once

#include <cstdint>
#include <optional>
#include <vector>

// Exact tests for a handful of runs, where nobody knows the shape of their spread.
namespace assay::record {

// ---- two arms without pairs

// Mann and Whitney's test. `u` counts the pairs (x, y) with x > y, an equal pair for half.
struct RankSum {
  double u = 0;
  double p_x_greater = 1;  // P(U >= u): evidence that x is larger
  double p_y_greater = 1;  // P(U <= u)
  double p_two_sided = 1;
  bool exact = true;
};
// Counts all orders of the values; exact up to 50 a side if no value occurs twice, else the normal
// approximation with tie and continuity correction. Neither arm may be empty.
RankSum MannWhitney(const std::vector<double>& x, const std::vector<double>& y);
RankSum MannWhitneyNormal(const std::vector<double>& x, const std::vector<double>& y);

// The least p that n values against m can have, all of one arm above the other: 1 / C(n + m, n) one-sided.
// Above the level that must be reached, these arms are too small to show anything.
double SmallestRankSumP(int64_t n, int64_t m);

// Hodges and Lehmann's shift: the median of all y - x.
double HodgesLehmannShift(const std::vector<double>& x, const std::vector<double>& y);

// The shifts that Mann and Whitney's test does not reject, at `confidence` (two-sided) or a little more: the
// order statistics k + 1 and nm - k of all y - x. None where even the extreme order is not rare enough.
struct ShiftInterval {
  double low = 0, high = 0;
  double confidence = 0;  // attained
};
std::optional<ShiftInterval> HodgesLehmannInterval(const std::vector<double>& x, const std::vector<double>& y,
                                                   double confidence);

// ---- pairs

// If nothing changed each difference is as likely to have the other sign: the share of all 2^n sign patterns
// whose sum is at least (at most) the one seen.
struct SignFlip {
  double p_positive = 1;  // evidence that the differences are above zero
  double p_negative = 1;
  double p_two_sided = 1;
};
// All patterns up to 20 pairs; beyond, the normal approximation, sum / sqrt(sum of squares).
SignFlip SignFlipTest(const std::vector<double>& differences);
// Whole differences, such as answers won less lost of each question, or signed ranks (Wilcoxon's test): exact
// for any number of them. With differences of one it is McNemar's test.
SignFlip SignFlipTest(const std::vector<int64_t>& differences);

// The least one-sided p that n pairs can have: 2^-n.
double SmallestSignFlipP(int64_t pairs);

// Hodges and Lehmann's centre of paired differences: the median of all means of two, each with itself too.
double HodgesLehmannCentre(const std::vector<double>& differences);

}  // namespace assay::record
