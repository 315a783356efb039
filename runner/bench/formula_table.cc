#include <fmt/format.h>

#include <algorithm>

#include "evals/serving/series.h"
#include "record/score.h"
#include "runner/bench/bench.h"

namespace assay::runner {
namespace {

constexpr int64_t kRequestsForP99 = 299;

struct Line {
  std::string name, value, samples, formula;
};

std::string Number(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "not measured";
}

// Metrics that no other tool has.
std::vector<Line> OurLines(const record::ServingRecord& serving) {
  struct Known {
    const char *metric, *name, *formula;
  };
  const Known known[] = {
      {"request_goodput_req_s", "goodput req/s",
       "requests within every limit / duration; failed ones are not good"},
      {"good_share", "good share", "requests within every limit / requests, failed ones included"},
      {"itl_by_token_mean_ms", "mean ITL by token ms",
       "gaps between chunks / tokens of the chunk that ends them"},
      {"itl_by_token_p99_ms", "p99 ITL by token ms", "the same, one observation a token"},
      {"first_reasoning_p50_ms", "median first reasoning ms", "first chunk with reasoning - sent"},
      {"first_content_p50_ms", "median first content ms", "first chunk with content - sent"},
      {"ttft_from_planned_p50_ms", "median TTFT planned ms",
       "first chunk - planned time: the client's queue included"},
      {"ttft_from_planned_p99_ms", "p99 TTFT planned ms",
       "first chunk - planned time: the client's queue included"},
      {"e2el_from_planned_p50_ms", "median E2EL planned ms",
       "last chunk - planned time: the client's queue included"},
      {"cached_token_share", "cached token share",
       "usage.prompt_tokens_details.cached_tokens / prompt tokens"},
      {"mean_in_flight", "mean in flight", "sum of E2EL / duration"},
      {"send_lag_p99_ms", "p99 send lag ms", "sent - the moment a request was due and had a place"},
      {"client_cpu_share", "client CPU share", "CPU seconds of this process / duration; 1 is one core"},
  };
  std::vector<Line> lines;
  for (const Known& row : known) {
    const record::Metric* metric = record::Find(serving.metrics, row.metric);
    if (metric == nullptr) continue;
    lines.push_back({row.name, metric->value ? fmt::format("{:.3f}", *metric->value) : "not measured",
                     std::to_string(metric->samples), row.formula});
  }
  lines.push_back({"peak tok/s", Number(evals::PeakOutput(serving.requests).tokens),
                   std::to_string(serving.requests.size()),
                   "the most tokens in one second; vLLM's peak counts chunks"});
  return lines;
}

std::string Table(const std::vector<Line>& lines) {
  size_t name = 0, value = 0, samples = 1;
  for (const Line& line : lines) {
    name = std::max(name, line.name.size());
    value = std::max(value, line.value.size());
    samples = std::max(samples, line.samples.size());
  }
  std::string text =
      fmt::format("{:<{}}  {:>{}}  {:>{}}  {}\n", "", name, "", value, "n", samples, "formula");
  for (const Line& line : lines) {
    text += fmt::format("{:<{}}  {:>{}}  {:>{}}  {}\n", line.name, name, line.value, value, line.samples,
                        samples, line.formula);
  }
  return text;
}

// Where the true percentile lies, whatever the distribution, as far as requests tell.
std::string PercentileIntervals(std::string_view name, std::vector<double> values,
                                const std::vector<double>& percentiles) {
  if (values.empty()) return "";
  std::sort(values.begin(), values.end());
  std::string text = fmt::format("95 % interval of {} ms, {} requests:", name, values.size());
  for (const double percentile : percentiles) {
    if (percentile <= 0 || percentile >= 100) continue;
    const record::RankInterval ranks =
        record::QuantileRanks(static_cast<int64_t>(values.size()), percentile / 100, 0.95);
    const auto at = [&](int64_t rank) { return values[static_cast<size_t>(rank - 1)]; };
    text += fmt::format(" p{:g} {:.2f} to {},", percentile, at(ranks.low),
                        ranks.high ? fmt::format("{:.2f}", at(*ranks.high)) : "unbounded");
  }
  text.back() = '\n';
  return text;
}

// Each distinct error, with how often it came.
std::string Failures(const record::ServingRecord& serving) {
  std::map<std::string, int> errors;
  for (const record::RequestTiming& request : serving.requests) {
    if (!request.error.empty()) ++errors[request.error];
  }
  std::string text;
  for (const auto& [error, count] : errors) text += fmt::format("failed {} times: {}\n", count, error);
  return text;
}

}  // namespace

std::string FormulaTable(const BenchOptions& options, const BenchRun& run) {
  const record::ServingRecord& serving = run.serving;
  std::vector<Line> lines;
  for (const evals::Figure& figure :
       evals::FiguresBy(options.definitions, serving.requests, serving.duration_s, options.percentiles)) {
    lines.push_back({figure.name + " " + figure.unit, Number(figure.value), std::to_string(figure.samples),
                     figure.formula});
  }
  const std::vector<Line> ours = OurLines(serving);
  lines.insert(lines.end(), ours.begin(), ours.end());
  std::string text = Table(lines);

  const auto completed = static_cast<int64_t>(std::count_if(serving.requests.begin(), serving.requests.end(),
                                                            [](const auto& r) { return r.error.empty(); }));
  const evals::ServingSeries series = evals::SeriesOf(serving.requests);
  text += PercentileIntervals("TTFT", series.ttft, options.percentiles);
  text += PercentileIntervals("TPOT", series.tpot, options.percentiles);
  text += PercentileIntervals("E2EL", series.e2el, options.percentiles);
  const bool p99 =
      std::any_of(options.percentiles.begin(), options.percentiles.end(), [](double p) { return p >= 99; });
  if (p99 && completed < kRequestsForP99) {
    text += fmt::format("p99 of {} requests is an observation: {} bound it\n", completed, kRequestsForP99);
  }
  const bool counted = std::all_of(serving.requests.begin(), serving.requests.end(), [](const auto& r) {
    return !r.error.empty() || r.output_tokens_from_usage;
  });
  text += counted ? "output tokens are the server's usage\n"
                  : "output tokens are chunks where the server sent no usage\n";
  const record::Metric* warm_up = record::Find(serving.metrics, "warm_up_requests");
  text += fmt::format("data {}{}{}, seed {}, {} warm-up requests left out\n", serving.dataset,
                      serving.prompts.empty() ? "" : ": ", serving.prompts, serving.seed,
                      warm_up != nullptr ? warm_up->samples : serving.warmups);
  return text + Failures(serving);
}

}  // namespace assay::runner
