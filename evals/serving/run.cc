#include <sys/resource.h>

#include <cmath>

#include "evals/http/request.h"
#include "evals/serving/load.h"
#include "evals/serving/prompts.h"
#include "evals/serving/serving.h"
#include "record/statistics.h"

namespace assay::evals {
namespace {

using record::Direction;
using record::ServingRecord;

double ProcessCpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Status CheckOptions(const ServingOptions& options) {
  const auto at_least_1 = [](const char* key, int64_t value) -> Status {
    if (value >= 1) return {};
    return Fail(ErrorKind::kUsage, "{} must be at least 1, got {}", key, value);
  };
  RETURN_IF_ERROR(at_least_1("input_len", options.input_len));
  RETURN_IF_ERROR(at_least_1("output_len", options.output_len));
  RETURN_IF_ERROR(at_least_1("num_prompts", options.num_prompts));
  RETURN_IF_ERROR(at_least_1("max_concurrency", options.max_concurrency.value_or(1)));
  if (options.dataset != "random") {
    return Fail(ErrorKind::kUsage, "dataset must be random, got '{}'", options.dataset);
  }
  if (options.warmups < 0)
    return Fail(ErrorKind::kUsage, "warmups must not be negative, got {}", options.warmups);
  if (!std::isfinite(options.request_rate) || options.request_rate < 0) {
    return Fail(ErrorKind::kUsage, "request_rate must be 0 (all at once) or above, got {}",
                options.request_rate);
  }
  if (!(options.burstiness > 0)) {
    return Fail(ErrorKind::kUsage, "burstiness must be above 0, got {}", options.burstiness);
  }
  return {};
}

LoadPlan PlanOf(const std::string& base_url, const ServingOptions& options, std::vector<std::string> bodies) {
  LoadPlan plan;
  plan.url = JoinUrl(base_url, "/v1/completions");
  plan.planned_s.assign(bodies.size(), 0.0);
  plan.bodies = std::move(bodies);
  plan.max_concurrency = options.max_concurrency;
  plan.model = options.model;
  plan.request_timeout = Timeout(options.request_timeout_s);
  plan.idle_timeout = Timeout(options.idle_timeout_s);
  plan.prompt_tokens = options.input_len;
  return plan;
}

ServingRecord RecordOf(const ServingOptions& options) {
  ServingRecord serving;
  serving.name = options.name;
  serving.dataset = options.dataset;
  serving.input_len = options.input_len;
  serving.output_len = options.output_len;
  serving.num_prompts = options.num_prompts;
  serving.request_rate = options.request_rate;
  serving.max_concurrency = options.max_concurrency;
  serving.burstiness = options.burstiness;
  serving.warmups = options.warmups;
  serving.seed = static_cast<int64_t>(options.seed);
  serving.ignore_eos = options.ignore_eos;
  return serving;
}

}  // namespace

Result<ServingRecord> RunServing(const std::string& base_url, const ServingOptions& options,
                                 Progress& progress,
                                 const std::function<void(const record::RequestTiming&)>& on_request) {
  RETURN_IF_ERROR(CheckOptions(options));
  ASSIGN_OR_RETURN(auto warm_up_bodies, CompletionBodies(options, "warm_up", options.warmups));
  ASSIGN_OR_RETURN(auto bodies, CompletionBodies(options, "measured", options.num_prompts));
  progress.done = 0;
  progress.planned = options.warmups + options.num_prompts;

  const auto client = NewCurlClient();
  DriveLoad(*client, PlanOf(base_url, options, std::move(warm_up_bodies)), progress, {});

  LoadPlan plan = PlanOf(base_url, options, std::move(bodies));
  plan.planned_s = PlanArrivals(options.num_prompts, options.request_rate, options.burstiness, options.seed);
  const double cpu_before = ProcessCpuSeconds();
  LoadResult load = DriveLoad(*client, std::move(plan), progress, on_request);
  const double cpu_s = ProcessCpuSeconds() - cpu_before;

  ServingRecord serving = RecordOf(options);
  serving.duration_s = load.duration_s;
  serving.complete = load.complete;
  serving.metrics = SummariseServing(load.requests, load.duration_s);
  serving.requests = std::move(load.requests);

  const record::Metric* mean_in_flight = record::Find(serving.metrics, "mean_in_flight");
  serving.mean_in_flight = mean_in_flight != nullptr ? mean_in_flight->value.value_or(0) : 0;
  const auto sent = static_cast<int64_t>(load.send_lags_ms.size());
  if (sent > 0) {
    serving.client_cpu_share = cpu_s / load.duration_s;
    serving.send_lag_p99_ms = record::Percentile(load.send_lags_ms, 99);
  }
  const auto add_client_figure = [&](const char* name, const char* unit, double value) {
    serving.metrics.push_back(
        {name, unit, Direction::kLowerIsBetter, sent > 0 ? std::optional(value) : std::nullopt, sent});
  };
  add_client_figure("client_cpu_share", "", serving.client_cpu_share);
  add_client_figure("send_lag_p99_ms", "ms", serving.send_lag_p99_ms);
  return serving;
}

}  // namespace assay::evals
