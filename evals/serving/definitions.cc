#include "evals/serving/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evals/serving/series.h"
#include "record/statistics.h"

namespace assay::evals {
namespace {

using Values = std::vector<double>;

struct Latency {
  const char* name;
  const char* unit;
  const char* formula;
  Values ServingSeries::*values;
};

const std::vector<Latency>& Latencies(Definitions definitions) {
  using S = ServingSeries;
  static const std::vector<Latency> vllm = {
      {"TTFT", "ms", "first chunk - sent", &S::ttft},
      {"TPOT", "ms", "(last chunk - first chunk) / (output tokens - 1), requests of 2 tokens or more",
       &S::tpot},
      {"ITL", "ms", "gaps between chunks, of all requests in one list", &S::itl},
      {"E2EL", "ms", "last chunk - sent", &S::e2el},
  };
  static const std::vector<Latency> aiperf = {
      {"Time to First Token", "ms", "first response - sent", &S::ttft},
      {"Time to Second Token", "ms", "second response - first response", &S::second_chunk},
      {"Request Latency", "ms", "last response with choices - sent", &S::e2el},
      {"Inter Token Latency", "ms", "(request latency - time to first token) / (output tokens - 1)",
       &S::tpot},
      {"Inter Chunk Latency", "ms", "gaps between responses, of all requests in one list", &S::itl},
      {"Output Token Throughput Per User", "tok/s", "1000 / inter token latency", &S::tokens_per_s},
  };
  static const std::vector<Latency> guidellm = {
      {"request_latency", "ms", "last token - sent", &S::e2el},
      {"time_to_first_token_ms", "ms", "first token - sent", &S::ttft},
      {"time_per_output_token_ms", "ms", "(last token - sent) / output tokens: prefill included",
       &S::guidellm_tpot},
      {"inter_token_latency_ms", "ms", "(last token - first token) / (output tokens - 1)", &S::tpot},
  };
  if (definitions == Definitions::kAiperf) return aiperf;
  if (definitions == Definitions::kGuidellm) return guidellm;
  return vllm;
}

void AddStatistics(const Latency& latency, const Values& values, Definitions definitions,
                   const Values& percentiles, std::vector<Figure>& figures) {
  const auto add = [&](const std::string& statistic, auto compute) {
    figures.push_back({statistic + " " + latency.name, latency.unit,
                       values.empty() ? std::nullopt : std::optional<double>(compute()),
                       static_cast<int64_t>(values.size()), latency.formula});
  };
  const bool aiperf = definitions == Definitions::kAiperf, guidellm = definitions == Definitions::kGuidellm;
  add(aiperf ? "avg" : "mean", [&] { return record::Mean(values); });
  if (!aiperf) add("median", [&] { return guidellm ? NearestRank(values, 50) : record::Median(values); });
  if (aiperf) add("min", [&] { return *std::min_element(values.begin(), values.end()); });
  if (aiperf) add("max", [&] { return *std::max_element(values.begin(), values.end()); });
  for (const double p : percentiles) {
    add(fmt::format("p{:g}", p),
        [&] { return guidellm ? NearestRank(values, p) : record::Percentile(values, p); });
  }
}

struct Rates {
  const char *requests, *output, *total, *duration;
};

}  // namespace

std::optional<Definitions> FindDefinitions(std::string_view name) {
  if (name == "vllm") return Definitions::kVllm;
  if (name == "aiperf") return Definitions::kAiperf;
  if (name == "guidellm") return Definitions::kGuidellm;
  return std::nullopt;
}

double NearestRank(std::vector<double> values, double p) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(p / 100 * static_cast<double>(values.size()) - 1e-9);
  const auto index = static_cast<size_t>(std::max(1.0, rank)) - 1;
  return values[std::min(index, values.size() - 1)];
}

std::vector<Figure> FiguresBy(Definitions definitions, const std::vector<record::RequestTiming>& requests,
                              double duration_s, const std::vector<double>& percentiles) {
  const ServingSeries series = SeriesOf(requests);
  Rates names = {"request throughput", "output token throughput", "total token throughput",
                 "start of the load to the end of the last request, failed ones included"};
  double span_s = duration_s;
  if (definitions == Definitions::kAiperf) {
    names = {"Request Throughput", "Output Token Throughput", "Total Token Throughput",
             "first request sent to last response"};
    span_s = series.last_chunk_s - series.first_sent_s;
  } else if (definitions == Definitions::kGuidellm) {
    names = {"requests_per_second", "output_tokens_per_second", "tokens_per_second",
             "first request sent to last token"};
    span_s = series.last_chunk_s - series.first_sent_s;
  }
  std::vector<Figure> figures;
  const auto add_rate = [&](const char* name, const char* unit, const char* what, double amount) {
    const bool measured = series.completed > 0 && span_s > 0;
    figures.push_back({name, unit, measured ? std::optional(amount / span_s) : std::nullopt, series.completed,
                       fmt::format("{} / duration ({})", what, names.duration)});
  };
  const auto output = static_cast<double>(series.output_tokens);
  add_rate(names.requests, "req/s", "completed requests", static_cast<double>(series.completed));
  add_rate(names.output, "tok/s", "output tokens", output);
  add_rate(names.total, "tok/s", "prompt and output tokens",
           output + static_cast<double>(series.prompt_tokens));
  for (const Latency& latency : Latencies(definitions))
    AddStatistics(latency, series.*latency.values, definitions, percentiles, figures);
  return figures;
}

}  // namespace assay::evals
