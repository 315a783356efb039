#include <fmt/format.h>

#include <algorithm>

#include "evals/serving/series.h"
#include "evals/serving/serving.h"
#include "record/statistics.h"

namespace assay::evals {
namespace {

using record::Direction;
using record::Metric;
using record::RequestTiming;

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

// A request of one token has no TPOT, and passes any limit on it, as in vLLM.
bool IsGood(const RequestTiming& request, const std::map<std::string, double>& limits) {
  if (!request.error.empty()) return false;
  const double ttft = (request.first_chunk_s - request.sent_s) * 1000;
  const double e2el = (request.last_chunk_s - request.sent_s) * 1000;
  const double tpot =
      request.output_tokens > 1 ? (e2el - ttft) / static_cast<double>(request.output_tokens - 1) : 0;
  const std::map<std::string, double> values = {{"ttft", ttft}, {"tpot", tpot}, {"e2el", e2el}};
  return std::all_of(limits.begin(), limits.end(),
                     [&](const auto& limit) { return values.at(limit.first) <= limit.second; });
}

}  // namespace

std::vector<Metric> SummariseServing(const std::vector<RequestTiming>& requests, double duration_s,
                                     const std::map<std::string, double>& goodput) {
  const ServingSeries seen = SeriesOf(requests);
  const auto asked = static_cast<int64_t>(requests.size());
  std::vector<Metric> metrics = {
      {"completed", "", Direction::kHigherIsBetter, static_cast<double>(seen.completed), asked},
      {"failed", "", Direction::kLowerIsBetter, static_cast<double>(seen.failed), asked},
  };
  // Nothing completed is not a throughput of zero: nothing was measured.
  const auto add = [&](const char* name, const char* unit, Direction direction, double value) {
    const bool measured = seen.completed > 0 && duration_s > 0;
    metrics.push_back(
        {name, unit, direction, measured ? std::optional(value) : std::nullopt, seen.completed});
  };
  const auto output = static_cast<double>(seen.output_tokens);
  add("request_throughput_req_s", "req/s", Direction::kHigherIsBetter,
      static_cast<double>(seen.completed) / duration_s);
  add("output_throughput_tok_s", "tok/s", Direction::kHigherIsBetter, output / duration_s);
  add("total_token_throughput_tok_s", "tok/s", Direction::kHigherIsBetter,
      (output + static_cast<double>(seen.prompt_tokens)) / duration_s);
  if (!goodput.empty()) {
    const auto good = static_cast<double>(std::count_if(
        requests.begin(), requests.end(), [&](const RequestTiming& r) { return IsGood(r, goodput); }));
    add("request_goodput_req_s", "req/s", Direction::kHigherIsBetter, good / duration_s);
    metrics.push_back({"good_share", "", Direction::kHigherIsBetter,
                       asked > 0 ? std::optional(good / static_cast<double>(asked)) : std::nullopt, asked});
  }
  AddLatency(metrics, "ttft", seen.ttft);
  AddLatency(metrics, "tpot", seen.tpot);
  AddLatency(metrics, "itl", seen.itl);
  // The longest pause of any stream: one stall in hundreds of requests is in no percentile that they can
  // bound.
  metrics.push_back(
      {"itl_max_ms", "ms", Direction::kLowerIsBetter,
       seen.itl.empty() ? std::nullopt : std::optional(*std::max_element(seen.itl.begin(), seen.itl.end())),
       static_cast<int64_t>(seen.itl.size())});
  AddLatency(metrics, "e2el", seen.e2el);
  AddLatency(metrics, "ttft_from_planned", seen.ttft_from_planned);
  AddLatency(metrics, "e2el_from_planned", seen.e2el_from_planned);
  // Only where the server lets them be measured.
  if (!seen.itl_by_token.empty()) AddLatency(metrics, "itl_by_token", seen.itl_by_token);
  if (!seen.first_reasoning.empty()) {
    AddLatency(metrics, "first_reasoning", seen.first_reasoning);
    AddLatency(metrics, "first_content", seen.first_content);
  }
  if (seen.prompt_tokens_with_cache_count > 0) {
    const double share =
        static_cast<double>(seen.cached_tokens) / static_cast<double>(seen.prompt_tokens_with_cache_count);
    metrics.push_back({"cached_token_share", "", Direction::kHigherIsBetter, share, seen.completed});
  }
  add("mean_in_flight", "", Direction::kLowerIsBetter, seen.in_flight_s / duration_s);
  return metrics;
}

}  // namespace assay::evals
