#pragma once

#include <cstdint>
#include <optional>
#include <vector>

// What one score, k of n, says by itself.
namespace assay::record {

struct Interval {
  double low = 0, high = 0;
};

// Wilson's interval for k/n. `confidence` is two-sided; each end is also a one-sided bound at
// (1 + confidence) / 2, so 0.90 gives both one-sided 95 % bounds.
Interval WilsonInterval(double successes, double trials, double confidence);

// The rate of something rare (false alarms): Beta(k + 1/2, n - k + 1/2) quantiles, two-sided. Never of width
// zero, and right on average where Wilson's is a little wide.
Interval JeffreysInterval(int64_t events, int64_t trials, double confidence);

// So many observations, at most `above` of them over a limit, show that this share of all lies below it: the
// least n with P(Bin(n, 1 - share) <= above) <= 1 - confidence. 299 for a p99 at 95 %.
int64_t MinimumObservations(double share, int64_t above, double confidence);

// Ranks (from 1) of the order statistics that enclose the `share` quantile with at least this confidence,
// whatever the distribution: P(low <= Bin(n, share) < high) with equal tails. No high end where the largest
// of n is not surely above it.
struct RankInterval {
  int64_t low = 1;
  std::optional<int64_t> high = {};
};
RankInterval QuantileRanks(int64_t n, double share, double confidence);

// The spread that a rerun of the same questions has: sqrt(sum_q p_q (1 - p_q) / (m - 1)) / N, for the share
// correct of each question over m >= 2 repeats. What a regression gate needs; the spread over new questions
// (sd(p_q) / sqrt(N)) is far larger.
double RerunStandardError(const std::vector<double>& share_correct, int repeats);

// The spread over other questions like these: sd(p_q) / sqrt(N), N >= 2 questions as clusters, so that
// repeats are not taken for independent.
double QuestionStandardError(const std::vector<double>& share_correct);

// How alike the repeats of one question are, by one-way analysis of variance: with MSB = m var(p_q) and MSW =
// sum_q m p_q (1 - p_q) / (N (m - 1)) it is (MSB - MSW) / (MSB + (m - 1) MSW). 1: a question is always right
// or always wrong; near 0: repeats tell as much as other questions would. m >= 2 repeats of N >= 2 questions;
// nullopt where all answers are the same.
std::optional<double> IntraclassCorrelation(const std::vector<double>& share_correct, int repeats);

// So many samples weigh as one that is independent of the others: 1 + (m - 1) rho.
double DesignEffect(double intraclass_correlation, int repeats);

// Whether `score`, printed with `decimals`, can be k/n for a whole k.
bool OnScoreGrid(double score, int64_t n, int decimals);

// The loss from `threshold` that one pass over n questions finds with this power (one-sided alpha).
double ThresholdMde(double score, double n, double alpha, double power);

}  // namespace assay::record
