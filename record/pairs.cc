#include "record/pairs.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "record/distributions.h"
#include "record/statistics.h"

namespace assay::record {

std::vector<double> LogRatios(const std::vector<double>& base, const std::vector<double>& head,
                              bool higher_is_better) {
  CHECK_EQ(base.size(), head.size());
  std::vector<double> ratios;
  for (size_t i = 0; i < base.size(); ++i) {
    CHECK_GT(base[i], 0.0);
    CHECK_GT(head[i], 0.0);
    const double ratio = std::log(head[i] / base[i]);
    ratios.push_back(higher_is_better ? -ratio : ratio);
  }
  return ratios;
}

PairChange ChangeOverPairs(const std::vector<double>& log_ratios) {
  const auto n = static_cast<double>(log_ratios.size());
  return {static_cast<int64_t>(log_ratios.size()), Mean(log_ratios), SampleStddev(log_ratios) / std::sqrt(n)};
}

double PairHalfWidth(const PairChange& change, double tail) {
  if (tail <= 0) return std::numeric_limits<double>::infinity();
  return StudentQuantile(1 - tail, static_cast<double>(change.pairs) - 1) * change.standard_error;
}

double PairPValue(const PairChange& change, double limit) {
  const double above = change.mean - limit;
  if (change.standard_error <= 0) return above > 0 ? 0 : 1;  // equal ratios leave no doubt
  return 1 - StudentCdf(above / change.standard_error, static_cast<double>(change.pairs) - 1);
}

}  // namespace assay::record
