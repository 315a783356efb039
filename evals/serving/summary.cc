#include <fmt/format.h>

#include "evals/serving/serving.h"
#include "record/statistics.h"

namespace assay::evals {
namespace {

using record::Direction;
using record::Metric;
using record::RequestTiming;

// What the successful requests say, in milliseconds and tokens.
struct Observed {
  int64_t completed = 0, failed = 0;
  int64_t prompt_tokens = 0, output_tokens = 0;
  double in_flight_s = 0;
  std::vector<double> ttft, tpot, itl, e2el, ttft_from_planned, e2el_from_planned;
};

Observed Observe(const std::vector<RequestTiming>& requests) {
  Observed seen;
  for (const RequestTiming& request : requests) {
    if (!request.error.empty()) {
      ++seen.failed;
      continue;
    }
    ++seen.completed;
    seen.prompt_tokens += request.prompt_tokens;
    seen.output_tokens += request.output_tokens;
    const double ttft = (request.first_chunk_s - request.sent_s) * 1000;
    const double e2el = (request.last_chunk_s - request.sent_s) * 1000;
    const double waited = (request.sent_s - request.planned_s) * 1000;
    seen.in_flight_s += e2el / 1000;
    seen.ttft.push_back(ttft);
    seen.e2el.push_back(e2el);
    seen.ttft_from_planned.push_back(waited + ttft);
    seen.e2el_from_planned.push_back(waited + e2el);
    seen.itl.insert(seen.itl.end(), request.chunk_gaps_ms.begin(), request.chunk_gaps_ms.end());
    if (request.output_tokens > 1) {
      seen.tpot.push_back((e2el - ttft) / static_cast<double>(request.output_tokens - 1));
    }
  }
  return seen;
}

void AddLatency(std::vector<Metric>& metrics, const char* name, const std::vector<double>& values) {
  const auto add = [&](const char* statistic, double value) {
    metrics.push_back({fmt::format("{}_{}_ms", name, statistic), "ms", Direction::kLowerIsBetter,
                       values.empty() ? std::nullopt : std::optional(value),
                       static_cast<int64_t>(values.size())});
  };
  const auto percentile = [&](double p) { return values.empty() ? 0 : record::Percentile(values, p); };
  add("mean", values.empty() ? 0 : record::Mean(values));
  add("p50", percentile(50));
  add("p90", percentile(90));
  add("p99", percentile(99));
}

}  // namespace

std::vector<Metric> SummariseServing(const std::vector<RequestTiming>& requests, double duration_s) {
  const Observed seen = Observe(requests);
  const auto asked = static_cast<int64_t>(requests.size());
  std::vector<Metric> metrics = {
      {"completed", "", Direction::kHigherIsBetter, static_cast<double>(seen.completed), asked},
      {"failed", "", Direction::kLowerIsBetter, static_cast<double>(seen.failed), asked},
  };
  // Nothing completed is not a throughput of zero: nothing was measured.
  const auto add_rate = [&](const char* name, const char* unit, Direction direction, double amount) {
    const bool measured = seen.completed > 0 && duration_s > 0;
    metrics.push_back({name, unit, direction, measured ? std::optional(amount / duration_s) : std::nullopt,
                       seen.completed});
  };
  const auto output = static_cast<double>(seen.output_tokens);
  add_rate("request_throughput_req_s", "req/s", Direction::kHigherIsBetter,
           static_cast<double>(seen.completed));
  add_rate("output_throughput_tok_s", "tok/s", Direction::kHigherIsBetter, output);
  add_rate("total_token_throughput_tok_s", "tok/s", Direction::kHigherIsBetter,
           output + static_cast<double>(seen.prompt_tokens));
  AddLatency(metrics, "ttft", seen.ttft);
  AddLatency(metrics, "tpot", seen.tpot);
  AddLatency(metrics, "itl", seen.itl);
  AddLatency(metrics, "e2el", seen.e2el);
  AddLatency(metrics, "ttft_from_planned", seen.ttft_from_planned);
  AddLatency(metrics, "e2el_from_planned", seen.e2el_from_planned);
  add_rate("mean_in_flight", "", Direction::kLowerIsBetter, seen.in_flight_s);
  return metrics;
}

}  // namespace assay::evals
