#pragma once

#include <string_view>
#include <vector>

#include "gate/performance.h"
#include "record/metric.h"

// What every rule about speeds needs to know of a metric.
namespace assay::gate {

// Fewer requests cannot bound a p99: with none of 298 above a limit, 95 % confidence is just missed.
inline constexpr int64_t kRequestsForP99 = 299;

bool IsP99(std::string_view metric);
bool IsPrimary(std::string_view metric, const PerformancePolicy& policy);
// Throughput and E2EL mean nothing where answers did not have the length asked for.
bool IsInScope(SpeedScope scope, std::string_view metric);

// Speeds are compared as ratios, so their middle is that of their logs.
double GeometricMean(const std::vector<double>& values);
// A worse-is-positive log ratio as the relative change that was measured.
double AsMeasured(double worse, record::Direction direction);

}  // namespace assay::gate
