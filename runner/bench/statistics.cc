#include "runner/bench/statistics.h"

#include <cmath>

#include "record/statistics.h"

namespace assay::runner {

const std::vector<VllmMetric>& VllmMetrics() {
  using S = evals::ServingSeries;
  static const std::vector<VllmMetric> metrics = {
      {"ttft", "TTFT", "Time to First Token", &S::ttft},
      {"tpot", "TPOT", "Time per Output Token (excl. 1st token)", &S::tpot},
      {"itl", "ITL", "Inter-token Latency", &S::itl},
      {"e2el", "E2EL", "End-to-end Latency", &S::e2el},
      {"client_queue_time", "Client Queue Time", "Client Queue Time", &S::queue},
      {"e2el_including_client_queue", "E2EL incl. Client Queue", "E2EL incl. Client Queue",
       &S::e2el_from_planned},
  };
  return metrics;
}

double MeanOrZero(const std::vector<double>& values) {
  return values.empty() ? 0 : record::Mean(values);
}

double StddevOrZero(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  return record::SampleStddev(values) * std::sqrt((n - 1) / n);
}

double PercentileOrZero(const std::vector<double>& values, double percentile) {
  return values.empty() ? 0 : record::Percentile(values, percentile);
}

}  // namespace assay::runner
