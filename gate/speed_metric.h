#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "gate/performance.h"
#include "record/metric.h"

// What every rule about speeds needs to know of a metric.
namespace assay::gate {

// How many requests a high percentile needs: with none of 298 above a limit, 95 % confidence that 99 % lie
// below it is just missed. Nothing for other metrics.
struct TailBound {
  std::string_view percentile;  // "p99"
  int64_t requests = 0;
};
std::optional<TailBound> BoundOf(std::string_view metric);

bool IsPrimary(std::string_view metric, const PerformancePolicy& policy);
// Throughput and E2EL mean nothing where answers did not have the length asked for.
bool IsInScope(SpeedScope scope, std::string_view metric);

// Speeds are compared as ratios, so their middle is that of their logs.
double GeometricMean(const std::vector<double>& values);
// A worse-is-positive log ratio as the relative change that was measured.
double AsMeasured(double worse, record::Direction direction);

}  // namespace assay::gate
