#include "record/rank_tests.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/check.h"
#include "record/distributions.h"
#include "record/statistics.h"

namespace assay::record {
namespace {

constexpr size_t kExactArm = 50;
constexpr size_t kExactPairs = 20;

// Two sums of the same numbers in another order differ by rounding; they are the same sum, and 1/20 is 0.05.
constexpr double kRounding = 1e-12;

// share[u]: the part of all orders of n and m values without ties that has U = u. Of the last value, x's or
// y's, each x at the end lies above all m of y.
std::vector<double> SharesOfU(size_t n, size_t m) {
  std::vector<std::vector<double>> row(m + 1);  // row[j]: i values of x against j of y, for the current i
  for (size_t j = 0; j <= m; ++j) row[j] = {1.0};
  for (size_t i = 1; i <= n; ++i) {
    row[0] = {1.0};
    for (size_t j = 1; j <= m; ++j) {
      const double x_last = static_cast<double>(i) / static_cast<double>(i + j);
      std::vector<double> shares(i * j + 1, 0.0);
      for (size_t u = 0; u < row[j].size(); ++u) shares[u + j] += x_last * row[j][u];
      for (size_t u = 0; u < row[j - 1].size(); ++u) shares[u] += (1 - x_last) * row[j - 1][u];
      row[j] = std::move(shares);
    }
  }
  return row[m];
}

double CountU(const std::vector<double>& x, const std::vector<double>& y) {
  double u = 0;
  for (double a : x) {
    for (double b : y) u += a > b ? 1 : a == b ? 0.5 : 0;
  }
  return u;
}

std::vector<double> Pooled(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> all = x;
  all.insert(all.end(), y.begin(), y.end());
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<double> SortedShifts(const std::vector<double>& x, const std::vector<double>& y) {
  CHECK(!x.empty() && !y.empty());
  std::vector<double> shifts;
  for (double a : x) {
    for (double b : y) shifts.push_back(b - a);
  }
  std::sort(shifts.begin(), shifts.end());
  return shifts;
}

RankSum WithTwoSided(RankSum result) {
  result.p_two_sided = std::min(1.0, 2 * std::min(result.p_x_greater, result.p_y_greater));
  return result;
}

SignFlip WithTwoSided(SignFlip result) {
  result.p_two_sided = std::min(1.0, 2 * std::min(result.p_positive, result.p_negative));
  return result;
}

}  // namespace

RankSum MannWhitney(const std::vector<double>& x, const std::vector<double>& y) {
  CHECK(!x.empty() && !y.empty());
  const std::vector<double> all = Pooled(x, y);
  const bool ties = std::adjacent_find(all.begin(), all.end()) != all.end();
  if (ties || x.size() > kExactArm || y.size() > kExactArm) return MannWhitneyNormal(x, y);
  RankSum result{.u = CountU(x, y)};
  const std::vector<double> shares = SharesOfU(x.size(), y.size());
  const auto seen = static_cast<size_t>(result.u);
  double below = 0, above = 0;
  for (size_t u = 0; u < shares.size(); ++u) (u < seen ? below : above) += shares[u];
  result.p_x_greater = std::min(1.0, above);
  result.p_y_greater = std::min(1.0, below + shares[seen]);
  return WithTwoSided(result);
}

RankSum MannWhitneyNormal(const std::vector<double>& x, const std::vector<double>& y) {
  CHECK(!x.empty() && !y.empty());
  RankSum result{.u = CountU(x, y), .exact = false};
  const auto n = static_cast<double>(x.size()), m = static_cast<double>(y.size()), total = n + m;
  const std::vector<double> all = Pooled(x, y);
  double tie_sum = 0;
  for (auto from = all.begin(); from != all.end();) {
    const auto to = std::upper_bound(from, all.end(), *from);
    const auto t = static_cast<double>(to - from);
    tie_sum += t * t * t - t;
    from = to;
  }
  const double variance = n * m / 12 * (total + 1 - tie_sum / (total * (total - 1)));
  if (variance <= 0) return result;  // all values equal: no evidence of anything
  const double away = result.u - n * m / 2;
  result.p_x_greater = NormalCdf(-(away - 0.5) / std::sqrt(variance));
  result.p_y_greater = NormalCdf((away + 0.5) / std::sqrt(variance));
  return WithTwoSided(result);
}

double SmallestRankSumP(int64_t n, int64_t m) {
  CHECK_GT(n, 0);
  CHECK_GT(m, 0);
  const auto a = static_cast<double>(n), b = static_cast<double>(m);
  return std::exp(std::lgamma(a + 1) + std::lgamma(b + 1) - std::lgamma(a + b + 1));
}

double HodgesLehmannShift(const std::vector<double>& x, const std::vector<double>& y) {
  return Median(SortedShifts(x, y));
}

std::optional<ShiftInterval> HodgesLehmannInterval(const std::vector<double>& x, const std::vector<double>& y,
                                                   double confidence) {
  CHECK(confidence > 0 && confidence < 1);
  const std::vector<double> shifts = SortedShifts(x, y);
  const std::vector<double> shares = SharesOfU(x.size(), y.size());
  // The most order statistics that may be left out at each end.
  const double each_end = (1 - confidence) / 2;
  size_t left_out = 0;
  double tail = 0;
  while (left_out < shares.size() / 2 && tail + shares[left_out] <= each_end + kRounding)
    tail += shares[left_out++];
  if (left_out == 0) return std::nullopt;
  return ShiftInterval{shifts[left_out - 1], shifts[shifts.size() - left_out], 1 - 2 * tail};
}

SignFlip SignFlipTest(const std::vector<double>& differences) {
  CHECK(!differences.empty());
  double sum = 0, squares = 0, size = 0;
  for (double d : differences) {
    sum += d;
    squares += d * d;
    size += std::abs(d);
  }
  if (squares == 0) return {};
  if (differences.size() > kExactPairs) {
    const double z = sum / std::sqrt(squares);
    return WithTwoSided({.p_positive = NormalCdf(-z), .p_negative = NormalCdf(z)});
  }
  const uint32_t patterns = 1u << differences.size();
  const double slack = kRounding * size;
  double at_least = 0, at_most = 0;
  for (uint32_t pattern = 0; pattern < patterns; ++pattern) {
    double flipped = 0;
    for (size_t i = 0; i < differences.size(); ++i)
      flipped += (pattern >> i) & 1u ? -differences[i] : differences[i];
    at_least += flipped >= sum - slack;
    at_most += flipped <= sum + slack;
  }
  return WithTwoSided({.p_positive = at_least / patterns, .p_negative = at_most / patterns});
}

SignFlip SignFlipTest(const std::vector<int64_t>& differences) {
  int64_t sum = 0, size = 0;
  // share[s]: the part of all patterns in which the differences taken as positive sum to s.
  std::vector<double> share = {1.0};
  for (int64_t d : differences) {
    sum += d;
    if (d == 0) continue;
    const int64_t step = std::abs(d);
    size += step;
    share.resize(static_cast<size_t>(size) + 1, 0.0);
    for (int64_t s = size; s >= 0; --s) {
      double& here = share[static_cast<size_t>(s)];
      here = here / 2 + (s >= step ? share[static_cast<size_t>(s - step)] / 2 : 0);
    }
  }
  if (size == 0) return {};
  const int64_t positive = (sum + size) / 2;
  double below = 0, above = 0;
  for (int64_t s = 0; s <= size; ++s) (s < positive ? below : above) += share[static_cast<size_t>(s)];
  return WithTwoSided({.p_positive = std::min(1.0, above),
                       .p_negative = std::min(1.0, below + share[static_cast<size_t>(positive)])});
}

double SmallestSignFlipP(int64_t pairs) {
  CHECK_GT(pairs, 0);
  return std::exp2(-static_cast<double>(pairs));
}

double HodgesLehmannCentre(const std::vector<double>& differences) {
  std::vector<double> means;
  for (size_t i = 0; i < differences.size(); ++i) {
    for (size_t j = i; j < differences.size(); ++j) means.push_back((differences[i] + differences[j]) / 2);
  }
  return Median(std::move(means));
}

}  // namespace assay::record
