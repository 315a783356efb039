#include "gate/speed_metric.h"

#include <algorithm>
#include <cmath>

#include "record/statistics.h"

namespace assay::gate {
namespace {

bool Has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

}  // namespace

bool IsP99(std::string_view metric) {
  return Has(metric, "p99");
}

bool IsPrimary(std::string_view metric, const PerformancePolicy& policy) {
  return std::find(policy.primary.begin(), policy.primary.end(), metric) != policy.primary.end();
}

bool IsInScope(SpeedScope scope, std::string_view metric) {
  const bool depends_on_length = Has(metric, "throughput") || Has(metric, "e2el") || Has(metric, "goodput");
  return scope == SpeedScope::kAll || (scope == SpeedScope::kLatencyOnly && !depends_on_length);
}

double GeometricMean(const std::vector<double>& values) {
  std::vector<double> logs;
  for (double value : values) logs.push_back(std::log(value));
  return std::exp(record::Mean(logs));
}

double AsMeasured(double worse, record::Direction direction) {
  return std::expm1(direction == record::Direction::kHigherIsBetter ? -worse : worse);
}

}  // namespace assay::gate
