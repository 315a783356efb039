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

double PValueAbove(const RunChange& change, double limit) {
  if (change.standard_error == 0) return change.mean > limit ? 0 : 1;
  return StudentCdf(-(change.mean - limit) / change.standard_error, change.degrees_of_freedom);
}

RunChange ChangeAgainstRuns(double candidate, const std::vector<double>& baseline, bool higher_is_better) {
  CHECK_GT(candidate, 0.0);
  const std::vector<double> logs = Logs(baseline);
  const double log_ratio = std::log(candidate) - Mean(logs);
  const double worse = higher_is_better ? -log_ratio : log_ratio;
  const double half = PredictionHalfWidth(logs);
  return {worse, worse - half,          worse + half,
          half,  PredictionError(logs), static_cast<double>(logs.size()) - 1};
}

}  // namespace assay::record
