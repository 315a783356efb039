#include "record/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace assay::record {

double Percentile(std::vector<double> values, double p) {
  CHECK(!values.empty());
  CHECK(p >= 0 && p <= 100);
  std::sort(values.begin(), values.end());
  const double rank = p / 100 * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(rank);
  const size_t high = std::min(low + 1, values.size() - 1);
  const double share = rank - static_cast<double>(low);
  return values[low] + (values[high] - values[low]) * share;
}

double Median(std::vector<double> values) {
  return Percentile(std::move(values), 50);
}

double Mean(const std::vector<double>& values) {
  CHECK(!values.empty());
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double SampleStddev(const std::vector<double>& values) {
  CHECK_GE(values.size(), 2u);
  const double mean = Mean(values);
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<double> Logs(const std::vector<double>& values) {
  std::vector<double> logs;
  logs.reserve(values.size());
  for (double value : values) {
    CHECK_GT(value, 0.0);
    logs.push_back(std::log(value));
  }
  return logs;
}

}  // namespace assay::record
