#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "assay_version.h"
#include "base/secrets.h"
#include "base/text.h"
#include "runner/bench/bench.h"
#include "runner/bench/statistics.h"

namespace assay::runner {
namespace {

using nlohmann::ordered_json;
using record::RequestTiming;

ordered_json RateOrInf(double rate) {
  return rate > 0 ? ordered_json(rate) : ordered_json("inf");
}

std::string ModelId(const BenchOptions& options) {
  return options.model_id.empty() ? options.serving.model : options.model_id;
}

std::string Label(const BenchOptions& options) {
  return options.label.empty() ? options.backend : options.label;
}

void AddHead(const BenchOptions& options, const BenchRun& run, ordered_json& json) {
  const evals::ServingOptions& asked = options.serving;
  json["date"] = run.date;
  json["endpoint_type"] = options.backend;
  json["backend"] = options.backend;
  json["label"] = options.label.empty() ? ordered_json(nullptr) : ordered_json(options.label);
  json["model_id"] = ModelId(options);
  json["tokenizer_id"] = options.tokenizer_id.empty() ? ModelId(options) : options.tokenizer_id;
  json["num_prompts"] = run.serving.num_prompts;
  for (const auto& [key, value] : options.metadata) json[key] = value;
  json["request_rate"] = RateOrInf(asked.request_rate);
  json["burstiness"] = std::isinf(asked.burstiness) ? ordered_json("inf") : ordered_json(asked.burstiness);
  json["max_concurrency"] = asked.max_concurrency ? ordered_json(*asked.max_concurrency) : ordered_json();
  if (!asked.ramp_up.empty()) {
    json["ramp_up_strategy"] = asked.ramp_up;
    json["ramp_up_start_rps"] = asked.ramp_up_start;
    json["ramp_up_end_rps"] = asked.ramp_up_end;
  }
}

void AddTotals(const BenchRun& run, const evals::ServingSeries& series, ordered_json& json) {
  const double duration = run.serving.duration_s;
  const auto per_second = [&](int64_t amount) {
    return duration > 0 ? static_cast<double>(amount) / duration : 0;
  };
  const record::Metric* goodput = record::Find(run.serving.metrics, "request_goodput_req_s");
  json["duration"] = duration;
  json["completed"] = series.completed;
  json["failed"] = series.failed;
  json["total_input_tokens"] = series.prompt_tokens;
  json["total_output_tokens"] = series.output_tokens;
  json["request_throughput"] = per_second(series.completed);
  json["request_goodput"] = goodput != nullptr ? ordered_json(goodput->value.value_or(0)) : ordered_json();
  json["output_throughput"] = per_second(series.output_tokens);
  json["total_token_throughput"] = per_second(series.prompt_tokens + series.output_tokens);
  json["max_output_tokens_per_s"] = evals::PeakOutput(run.serving.requests).chunks;
  json["max_concurrent_requests"] = evals::PeakInFlight(run.serving.requests);
  json["rtfx"] = 0.0;
}

// A failed request has lengths and times of 0, as vLLM leaves them.
void AddDetails(const BenchRun& run, ordered_json& json) {
  const auto add = [&](const char* key, auto of) {
    ordered_json list = ordered_json::array();
    for (const RequestTiming& request : run.serving.requests) list.push_back(of(request));
    json[key] = std::move(list);
  };
  add("input_lens", [](const RequestTiming& r) { return r.prompt_tokens; });
  add("output_lens", [](const RequestTiming& r) { return r.error.empty() ? r.output_tokens : 0; });
  add("ttfts", [](const RequestTiming& r) { return r.error.empty() ? r.first_chunk_s - r.sent_s : 0.0; });
  add("itls", [](const RequestTiming& r) {
    ordered_json gaps = ordered_json::array();
    for (const float gap : r.chunk_gaps_ms) gaps.push_back(static_cast<double>(gap) / 1000);
    return gaps;
  });
  add("start_times", [](const RequestTiming& r) { return r.sent_s; });
  ordered_json texts = ordered_json::array();
  for (const std::string& text : run.texts) texts.push_back(Printable(text));
  json["generated_texts"] = std::move(texts);
  add("errors", [](const RequestTiming& r) { return Printable(r.error); });
}

// Seconds of each request, which vLLM leaves in files without details too.
void AddTimes(const BenchRun& run, ordered_json& json) {
  ordered_json latencies = ordered_json::array(), waits = ordered_json::array();
  for (const RequestTiming& r : run.serving.requests) {
    latencies.push_back(r.error.empty() ? r.last_chunk_s - r.sent_s : 0.0);
    waits.push_back(r.error.empty() ? std::max(0.0, r.sent_s - r.planned_s) : 0.0);
  }
  json["latencies"] = std::move(latencies);
  json["queue_times"] = std::move(waits);
}

void AddOurs(const BenchOptions& options, const BenchRun& run, ordered_json& json) {
  const evals::ServingOptions& asked = options.serving;
  ordered_json& ours = json["assay"];
  ours = {{"version", ASSAY_VERSION},
          {"commit", ASSAY_COMMIT},
          {"server_version", run.server_version},
          {"command", options.command},
          {"base_url", HideUserInfo(options.base_url)},
          {"seed", asked.seed},
          {"repetition", asked.repetition},
          {"dataset", run.serving.dataset},
          {"prompts", run.serving.prompts},
          {"arrivals", run.serving.arrivals},
          {"input_len", asked.input_len},
          {"output_len", asked.output_len},
          {"ignore_eos", asked.ignore_eos},
          {"warmups", run.serving.warmups}};
  for (const record::Metric& metric : run.serving.metrics) {
    ours["metrics"][metric.name] = {{"value", metric.value ? ordered_json(*metric.value) : ordered_json()},
                                    {"samples", metric.samples}};
  }
}

}  // namespace

std::string VllmJson(const BenchOptions& options, const BenchRun& run) {
  const evals::ServingSeries series = evals::SeriesOf(run.serving.requests);
  ordered_json json;
  AddHead(options, run, json);
  AddTotals(run, series, json);
  for (const VllmMetric& metric : VllmMetrics()) {
    const auto& keys = options.percentile_metrics;
    if (std::find(keys.begin(), keys.end(), metric.key) == keys.end()) continue;
    const std::vector<double>& values = series.*metric.values;
    json[fmt::format("mean_{}_ms", metric.key)] = MeanOrZero(values);
    json[fmt::format("median_{}_ms", metric.key)] = PercentileOrZero(values, 50);
    json[fmt::format("std_{}_ms", metric.key)] = StddevOrZero(values);
    for (const double p : options.percentiles)
      json[fmt::format("p{}_{}_ms", PercentileWord(p), metric.key)] = PercentileOrZero(values, p);
  }
  if (options.save_detailed) AddDetails(run, json);
  AddTimes(run, json);
  AddOurs(options, run, json);
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string VllmFileName(const BenchOptions& options, const std::string& date) {
  const evals::ServingOptions& asked = options.serving;
  const std::string rate =
      asked.ramp_up.empty()
          ? PythonFloat(asked.request_rate > 0 ? asked.request_rate : INFINITY) + "qps"
          : fmt::format("ramp-up-{}-{:g}qps-{:g}qps", asked.ramp_up, asked.ramp_up_start, asked.ramp_up_end);
  const std::string concurrency =
      asked.max_concurrency ? fmt::format("-concurrency{}", *asked.max_concurrency) : "";
  const std::string id = ModelId(options);
  const std::string model = id.substr(id.rfind('/') + 1);
  return fmt::format("{}-{}{}-{}-{}.json", Label(options), rate, concurrency, model, date);
}

}  // namespace assay::runner
