#include "record/distributions.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/check.h"

namespace assay::record {
namespace {

// Probabilities come from our own code, never from a user: outside (0, 1) is our mistake.
void CheckProbability(double p) {
  CHECK_GT(p, 0.0);
  CHECK_LT(p, 1.0);
}

boost::math::binomial Binomial(int64_t n, double p) {
  return {static_cast<double>(n), p};
}

}  // namespace

double NormalQuantile(double p) {
  CheckProbability(p);
  return boost::math::quantile(boost::math::normal(), p);
}

double NormalCdf(double z) {
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

double StudentQuantile(double p, double degrees_of_freedom) {
  CheckProbability(p);
  CHECK_GT(degrees_of_freedom, 0.0);
  return boost::math::quantile(boost::math::students_t(degrees_of_freedom), p);
}

double StudentCdf(double t, double degrees_of_freedom) {
  CHECK_GT(degrees_of_freedom, 0.0);
  return boost::math::cdf(boost::math::students_t(degrees_of_freedom), t);
}

double StudentShiftForPower(double critical, double degrees_of_freedom, double power) {
  CheckProbability(power);
  CHECK_GT(degrees_of_freedom, 0.0);
  CHECK_GT(critical, 0.0);
  // Given the spread that was seen, in units of the true one, the statistic exceeds `critical` where a normal
  // one exceeds critical x spread. The chance is the mean of that over all spreads, which have the density of
  // a chi, w^(v-1) exp(-v w^2 / 2): midpoints up to eight of its deviations around 1.
  constexpr int kSpreads = 200;
  const double v = degrees_of_freedom, reach = 8 / std::sqrt(2 * v);
  const double first = std::max(0.0, 1 - reach), step = (1 + reach - first) / kSpreads;
  std::vector<std::pair<double, double>> spreads;  // with their weights
  double total = 0;
  for (int i = 0; i < kSpreads; ++i) {
    const double w = first + (i + 0.5) * step;
    spreads.emplace_back(w, std::exp((v - 1) * std::log(w) - v * (w * w - 1) / 2));
    total += spreads.back().second;
  }
  const auto chance = [&](double shift) {
    double sum = 0;
    for (const auto& [spread, weight] : spreads) sum += weight * NormalCdf(shift - critical * spread);
    return sum / total;
  };
  double low = 0, high = critical + 1;
  while (chance(high) < power) high *= 2;
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = (low + high) / 2;
    (chance(middle) < power ? low : high) = middle;
  }
  return high;
}

double ChiSquaredQuantile(double p, double degrees_of_freedom) {
  CheckProbability(p);
  CHECK_GT(degrees_of_freedom, 0.0);
  return boost::math::quantile(boost::math::chi_squared(degrees_of_freedom), p);
}

double BetaQuantile(double p, double a, double b) {
  CheckProbability(p);
  return boost::math::quantile(boost::math::beta_distribution<>(a, b), p);
}

double IncompleteBeta(double x, double a, double b) {
  return boost::math::ibeta(a, b, x);
}

int64_t BinomialQuantile(double q, int64_t n, double p) {
  using boost::math::policies::discrete_quantile;
  using boost::math::policies::integer_round_up;
  using Up = boost::math::policies::policy<discrete_quantile<integer_round_up>>;
  CheckProbability(q);
  CheckProbability(p);
  CHECK_GE(n, 1);
  const boost::math::binomial_distribution<double, Up> binomial(static_cast<double>(n), p);
  return static_cast<int64_t>(boost::math::quantile(binomial, q));
}

double BinomialCdf(int64_t k, int64_t n, double p) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  return boost::math::cdf(Binomial(n, p), static_cast<double>(k));
}

double BinomialPdf(int64_t k, int64_t n, double p) {
  if (k < 0 || k > n) return 0;
  return boost::math::pdf(Binomial(n, p), static_cast<double>(k));
}

}  // namespace assay::record
