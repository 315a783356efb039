#pragma once

#include <string_view>
#include <vector>

#include "evals/serving/series.h"

namespace assay::runner {

// A latency as vLLM prints it. Its statistics of nothing are 0 in its table and JSON.
struct VllmMetric {
  std::string_view key;     // "ttft"
  std::string_view word;    // "TTFT"
  std::string_view header;  // "Time to First Token"
  std::vector<double> evals::ServingSeries::*values;
};
const std::vector<VllmMetric>& VllmMetrics();

double MeanOrZero(const std::vector<double>& values);
double StddevOrZero(const std::vector<double>& values);  // population
double PercentileOrZero(const std::vector<double>& values, double percentile);

}  // namespace assay::runner
