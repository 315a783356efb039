#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runner/bench/bench.h"
#include "runner/bench/statistics.h"

namespace assay::runner {
namespace {

constexpr int kWidth = 50;

std::string Row(const std::string& name, int64_t value) {
  return fmt::format("{:<40} {:<10}\n", name, value);
}
std::string Row(const std::string& name, double value) {
  return fmt::format("{:<40} {:<10.2f}\n", name, value);
}

bool Wanted(const BenchOptions& options, std::string_view key) {
  const auto& keys = options.percentile_metrics;
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string Section(const VllmMetric& metric, const std::vector<double>& values,
                    const std::vector<double>& percentiles) {
  std::string text = fmt::format("{:-^{}}\n", metric.header, kWidth);
  text += Row(fmt::format("Mean {} (ms):", metric.word), MeanOrZero(values));
  text += Row(fmt::format("Median {} (ms):", metric.word), PercentileOrZero(values, 50));
  for (const double p : percentiles)
    text += Row(fmt::format("P{} {} (ms):", PercentileWord(p), metric.word), PercentileOrZero(values, p));
  return text;
}

}  // namespace

std::string VllmTable(const BenchOptions& options, const BenchRun& run) {
  const record::ServingRecord& serving = run.serving;
  const evals::ServingSeries series = evals::SeriesOf(serving.requests);
  const double duration = serving.duration_s;
  const auto per_second = [&](int64_t amount) {
    return duration > 0 ? static_cast<double>(amount) / duration : 0;
  };
  std::string text = fmt::format("{:=^{}}\n", " Serving Benchmark Result ", kWidth);
  text += Row("Successful requests:", series.completed);
  text += Row("Failed requests:", series.failed);
  if (serving.max_concurrency) text += Row("Maximum request concurrency:", *serving.max_concurrency);
  if (serving.request_rate > 0) text += Row("Request rate configured (RPS):", serving.request_rate);
  text += Row("Benchmark duration (s):", duration);
  text += Row("Total input tokens:", series.prompt_tokens);
  text += Row("Total generated tokens:", series.output_tokens);
  text += Row("Request throughput (req/s):", per_second(series.completed));
  if (const auto* goodput = record::Find(serving.metrics, "request_goodput_req_s"))
    text += Row("Request goodput (req/s):", goodput->value.value_or(0));
  text += Row("Output token throughput (tok/s):", per_second(series.output_tokens));
  text += Row("Peak output token throughput (tok/s):", evals::PeakOutput(serving.requests).chunks);
  text += Row("Peak concurrent requests:", static_cast<double>(evals::PeakInFlight(serving.requests)));
  text += Row("Total token throughput (tok/s):", per_second(series.prompt_tokens + series.output_tokens));
  for (const VllmMetric& metric : VllmMetrics()) {
    if (Wanted(options, metric.key)) text += Section(metric, series.*metric.values, options.percentiles);
  }
  return text + std::string(kWidth, '=') + "\n";
}

std::string PercentileWord(double percentile) {
  return std::floor(percentile) == percentile ? fmt::format("{:.0f}", percentile)
                                              : fmt::format("{}", percentile);
}

std::string PythonFloat(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (std::floor(value) == value && std::abs(value) < 1e16) return fmt::format("{:.1f}", value);
  return fmt::format("{}", value);
}

}  // namespace assay::runner
