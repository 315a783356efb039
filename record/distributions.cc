#include "record/distributions.h"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>

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
  return boost::math::cdf(boost::math::normal(), z);
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
