#include "record/score.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "record/distributions.h"
#include "record/statistics.h"

namespace assay::record {

Interval WilsonInterval(double successes, double trials, double confidence) {
  CHECK_GT(trials, 0.0);
  const double z = NormalQuantile((1 + confidence) / 2);
  const double p = successes / trials;
  const double shrink = 1 + z * z / trials;
  const double centre = (p + z * z / (2 * trials)) / shrink;
  const double half = z / shrink * std::sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

Interval JeffreysInterval(int64_t events, int64_t trials, double confidence) {
  CHECK_GT(trials, 0);
  const double a = static_cast<double>(events) + 0.5, b = static_cast<double>(trials - events) + 0.5;
  return {BetaQuantile((1 - confidence) / 2, a, b), BetaQuantile((1 + confidence) / 2, a, b)};
}

int64_t MinimumObservations(double share, int64_t above, double confidence) {
  CHECK(share > 0 && share < 1);
  CHECK_GE(above, 0);
  int64_t low = above, high = above + 1;  // low is too few
  const auto enough = [&](int64_t n) { return BinomialCdf(above, n, 1 - share) <= 1 - confidence; };
  while (!enough(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

RankInterval QuantileRanks(int64_t n, double share, double confidence) {
  CHECK_GE(n, 1);
  CHECK(share > 0 && share < 1);
  const double tail = (1 - confidence) / 2;
  const int64_t high = BinomialQuantile(1 - tail, n, share) + 1;
  return {std::max<int64_t>(1, BinomialQuantile(tail, n, share)),
          high <= n ? std::optional(high) : std::nullopt};
}

double RerunStandardError(const std::vector<double>& share_correct, int repeats) {
  CHECK(!share_correct.empty());
  CHECK_GE(repeats, 2);
  double sum = 0;
  for (double p : share_correct) sum += p * (1 - p);
  return std::sqrt(sum / (repeats - 1)) / static_cast<double>(share_correct.size());
}

double QuestionStandardError(const std::vector<double>& share_correct) {
  return SampleStddev(share_correct) / std::sqrt(static_cast<double>(share_correct.size()));
}

std::optional<double> IntraclassCorrelation(const std::vector<double>& share_correct, int repeats) {
  CHECK_GE(share_correct.size(), 2u);
  CHECK_GE(repeats, 2);
  const double m = repeats, deviation = SampleStddev(share_correct);
  const double between = m * deviation * deviation;
  double within = 0;
  for (const double p : share_correct) within += m * p * (1 - p);
  within /= static_cast<double>(share_correct.size()) * (m - 1);
  if (between + within <= 0) return std::nullopt;
  return (between - within) / (between + (m - 1) * within);
}

double DesignEffect(double intraclass_correlation, int repeats) {
  return 1 + (repeats - 1) * intraclass_correlation;
}

bool OnScoreGrid(double score, int64_t n, int decimals) {
  CHECK_GT(n, 0);
  const double scale = std::pow(10.0, decimals);
  const double nearest = std::round(score * static_cast<double>(n)) / static_cast<double>(n);
  // Half to even and half up round differently; both printings are accepted.
  return std::abs(std::round(nearest * scale) - std::round(score * scale)) < 0.5 ||
         std::abs(nearest - score) * scale <= 0.5 + 1e-9;
}

double ThresholdMde(double score, double n, double alpha, double power) {
  CHECK_GT(n, 0.0);
  return (NormalQuantile(1 - alpha) + NormalQuantile(power)) * std::sqrt(score * (1 - score) / n);
}

}  // namespace assay::record
