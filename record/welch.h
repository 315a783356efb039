#pragma once

#include <vector>

namespace assay::record {

// Two arms that may vary differently, as a difference of means (of logs, where values are speeds): Welch's t.
struct WelchTest {
  double difference = 0;  // mean(y) - mean(x)
  double standard_error = 0;
  double degrees_of_freedom = 0;
  double t = 0;
  double p_two_sided = 1;
  double p_y_greater = 1;    // one-sided: evidence that y is larger
  double low = 0, high = 0;  // 95 % interval of the difference
};
// Two values an arm at least. Arms without any spread have no t: p is 1 if they are equal and 0 if not.
WelchTest Welch(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace assay::record
