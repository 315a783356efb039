#include "record/prediction.h"

#include <cmath>

#include "base/check.h"
#include "record/distributions.h"
#include "record/statistics.h"

namespace assay::record {

double PredictionError(const std::vector<double>& values) {
  return SampleStddev(values) * std::sqrt(1 + 1 / static_cast<double>(values.size()));
}

double PredictionHalfWidth(const std::vector<double>& values) {
  return StudentQuantile(0.975, static_cast<double>(values.size()) - 1) * PredictionError(values);
}

RunChange ChangeAgainstRuns(double candidate, const std::vector<double>& baseline, bool higher_is_better) {
  CHECK_GT(candidate, 0.0);
  const std::vector<double> logs = Logs(baseline);
  const double log_ratio = std::log(candidate) - Mean(logs);
  const double worse = higher_is_better ? -log_ratio : log_ratio;
  const double half = PredictionHalfWidth(logs);
  return {worse, worse - half, worse + half, half, PredictionError(logs)};
}

}  // namespace assay::record
