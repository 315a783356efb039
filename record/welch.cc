#include "record/welch.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "record/distributions.h"
#include "record/statistics.h"

namespace assay::record {

WelchTest Welch(const std::vector<double>& x, const std::vector<double>& y) {
  CHECK(x.size() >= 2 && y.size() >= 2);
  const auto n = static_cast<double>(x.size()), m = static_cast<double>(y.size());
  const double a = std::pow(SampleStddev(x), 2) / n, b = std::pow(SampleStddev(y), 2) / m;
  WelchTest test{.difference = Mean(y) - Mean(x), .standard_error = std::sqrt(a + b)};
  test.low = test.high = test.difference;
  if (test.standard_error == 0) {
    test.degrees_of_freedom = n + m - 2;
    test.p_two_sided = test.difference == 0 ? 1 : 0;
    test.p_y_greater = test.difference > 0 ? 0 : 1;
    return test;
  }
  test.degrees_of_freedom = (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1));
  test.t = test.difference / test.standard_error;
  test.p_y_greater = StudentCdf(-test.t, test.degrees_of_freedom);
  test.p_two_sided = 2 * StudentCdf(-std::abs(test.t), test.degrees_of_freedom);
  const double half = StudentQuantile(0.975, test.degrees_of_freedom) * test.standard_error;
  test.low = test.difference - half;
  test.high = test.difference + half;
  return test;
}

}  // namespace assay::record
