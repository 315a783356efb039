#include "gate/speed_metric.h"

#include <algorithm>
#include <cmath>

#include "record/score.h"
#include "record/statistics.h"

namespace assay::gate {
namespace {

bool Has(std::string_view name, std::string_view part) {
  return name.find(part) != std::string_view::npos;
}

}  // namespace

std::optional<TailBound> BoundOf(std::string_view metric) {
  for (const auto& [percentile, share] : {std::pair{"p99", 0.99}, {"p95", 0.95}, {"p90", 0.9}}) {
    if (Has(metric, percentile)) return TailBound{percentile, record::MinimumObservations(share, 0, 0.95)};
  }
  return std::nullopt;
}

bool IsPrimary(std::string_view metric, const PerformancePolicy& policy) {
  return std::find(policy.primary.begin(), policy.primary.end(), metric) != policy.primary.end();
}

bool IsInScope(SpeedScope scope, std::string_view metric) {
  const bool depends_on_length = Has(metric, "throughput") || Has(metric, "e2el") || Has(metric, "goodput");
  return scope == SpeedScope::kAll || (scope == SpeedScope::kLatencyOnly && !depends_on_length);
}

double GeometricMean(const std::vector<double>& values) {
  return std::exp(record::Mean(record::Logs(values)));
}

double AsMeasured(double worse, record::Direction direction) {
  return std::expm1(direction == record::Direction::kHigherIsBetter ? -worse : worse);
}

}  // namespace assay::gate
