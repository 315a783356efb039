#include "engine/server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "engine/server/process_stats.h"

namespace assay::engine {
namespace {

using prometheus::Histogram;

const Histogram::BucketBoundaries kFirstTokenBuckets = {
    .001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560};
const Histogram::BucketBoundaries kTokenBuckets = {.01, .025, .05, .075, .1,  .15, .2, .3, .4, .5,
                                                   .75, 1,    2.5, 5,    7.5, 10,  20, 40, 80};
// Tokens: 1, 2, 5, 10 and so on.
const Histogram::BucketBoundaries kCountBuckets = {1,    2,    5,    10,    20,    50,    100,    200,   500,
                                                   1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000};
const Histogram::BucketBoundaries kLatencyBuckets = {.3, .5, .8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
                                                     30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680};

}  // namespace

struct Metrics::Impl {
  Impl(const std::string& prefix, const std::string& model_name, const CacheFacts& cache)
      : prefix_(prefix), labels_{{"model_name", model_name}} {
    prometheus::BuildGauge()
        .Name(Name("cache_config_info"))
        .Help("The KV cache; always 1.")
        .Labels(labels_)
        .Register(registry_)
        .Add({{"block_size", std::to_string(cache.block_size)},
              {"num_gpu_blocks", std::to_string(cache.num_blocks)}})
        .Set(1);
  }

  std::string Name(const char* name) const { return prefix_ + ":" + name; }

  prometheus::Gauge& Gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(Name(name)).Help(help).Labels(labels_).Register(registry_).Add({});
  }
  prometheus::Counter& Counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(Name(name)).Help(help).Labels(labels_).Register(registry_).Add({});
  }
  // Without prefix or labels.
  prometheus::Gauge& ProcessGauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add({});
  }
  Histogram& Spread(const char* name, const char* help, const Histogram::BucketBoundaries& buckets) {
    return prometheus::BuildHistogram()
        .Name(Name(name))
        .Help(help)
        .Labels(labels_)
        .Register(registry_)
        .Add({}, buckets);
  }

  std::string prefix_;
  prometheus::Labels labels_;
  prometheus::Registry registry_;

  prometheus::Gauge& running = Gauge("num_requests_running", "Requests in the running batch.");
  prometheus::Gauge& waiting = Gauge("num_requests_waiting", "Requests that wait for a place in the batch.");
  prometheus::Gauge& cache_usage = Gauge("kv_cache_usage_perc", "Share of KV blocks in use, 0 to 1.");
  prometheus::Counter& prompt_tokens = Counter("prompt_tokens_total", "Prompt tokens computed.");
  prometheus::Counter& generation_tokens = Counter("generation_tokens_total", "Tokens generated.");
  prometheus::Counter& preemptions =
      Counter("num_preemptions_total", "Requests set back because KV blocks ran out.");
  prometheus::Family<prometheus::Counter>& ended = prometheus::BuildCounter()
                                                       .Name(Name("request_success_total"))
                                                       .Help("Requests ended, by reason.")
                                                       .Labels(labels_)
                                                       .Register(registry_);
  prometheus::Counter& prefix_queries =
      Counter("prefix_cache_queries_total", "Prompt tokens looked up in the prefix cache.");
  prometheus::Counter& prefix_hits =
      Counter("prefix_cache_hits_total", "Prompt tokens found in the prefix cache.");
  Histogram& first_token = Spread("time_to_first_token_seconds",
                                  "From receipt of a request to its first token.", kFirstTokenBuckets);
  Histogram& next_token =
      Spread("inter_token_latency_seconds", "From one token of a request to the next.", kTokenBuckets);
  Histogram& mean_token = Spread("request_time_per_output_token_seconds",
                                 "Mean of a request's times from token to token.", kTokenBuckets);
  Histogram& whole =
      Spread("e2e_request_latency_seconds", "From receipt of a request to its end.", kLatencyBuckets);
  Histogram& queue = Spread("request_queue_time_seconds", "Before a request's first step.", kLatencyBuckets);
  Histogram& prefill = Spread("request_prefill_time_seconds",
                              "From a request's first step to its first token.", kLatencyBuckets);
  Histogram& decode =
      Spread("request_decode_time_seconds", "From a request's first token to its last.", kLatencyBuckets);
  Histogram& inference = Spread("request_inference_time_seconds",
                                "From a request's first step to its last token.", kLatencyBuckets);
  Histogram& request_prompt = Spread("request_prompt_tokens", "Prompt tokens of a request.", kCountBuckets);
  Histogram& request_generation =
      Spread("request_generation_tokens", "Generated tokens of a request.", kCountBuckets);

  prometheus::Gauge& resident =
      ProcessGauge("process_resident_memory_bytes", "Resident memory size in bytes.");
  prometheus::Gauge& virtual_memory =
      ProcessGauge("process_virtual_memory_bytes", "Virtual memory size in bytes.");
  prometheus::Gauge& descriptors = ProcessGauge("process_open_fds", "Number of open file descriptors.");
  prometheus::Counter& cpu = prometheus::BuildCounter()
                                 .Name("process_cpu_seconds_total")
                                 .Help("Total user and system CPU time spent in seconds.")
                                 .Register(registry_)
                                 .Add({});
};

Metrics::Metrics(const std::string& prefix, const std::string& model_name, const CacheFacts& cache)
    : impl_(std::make_unique<Impl>(prefix, model_name, cache)) {
  for (const char* reason : {"stop", "length", "abort", "error"}) {
    impl_->ended.Add({{"finished_reason", reason}});
  }
}

Metrics::~Metrics() = default;

void Metrics::FirstToken(double seconds) {
  impl_->first_token.Observe(seconds);
}

void Metrics::NextToken(double seconds) {
  impl_->next_token.Observe(seconds);
}

void Metrics::Ended(const EndedRequest& request) {
  Impl& to = *impl_;
  to.ended.Add({{"finished_reason", request.finished_reason}}).Increment();
  to.whole.Observe(request.whole_seconds);
  to.request_prompt.Observe(static_cast<double>(request.prompt_tokens));
  to.request_generation.Observe(static_cast<double>(request.generated_tokens));
  if (request.generated_tokens == 0) return;  // the rest has not been measured
  to.queue.Observe(request.queue_seconds);
  to.prefill.Observe(request.prefill_seconds);
  to.decode.Observe(request.decode_seconds);
  to.inference.Observe(request.prefill_seconds + request.decode_seconds);
  const auto gaps = static_cast<double>(request.generated_tokens - 1);
  if (gaps > 0) to.mean_token.Observe(request.decode_seconds / gaps);
}

std::string Metrics::Text(const SchedulerStats& stats) {
  const auto raise_to = [](prometheus::Counter& counter, int64_t value) {
    counter.Increment(static_cast<double>(value) - counter.Value());
  };
  impl_->running.Set(static_cast<double>(stats.running));
  impl_->waiting.Set(static_cast<double>(stats.waiting));
  impl_->cache_usage.Set(1 -
                         static_cast<double>(stats.free_blocks) / static_cast<double>(stats.total_blocks));
  raise_to(impl_->prompt_tokens, stats.prompt_tokens);
  raise_to(impl_->generation_tokens, stats.generated_tokens);
  raise_to(impl_->preemptions, stats.preemptions);
  raise_to(impl_->prefix_queries, stats.prefix_cache_queries);
  raise_to(impl_->prefix_hits, stats.prefix_cache_hits);
  const ProcessStats process = ReadProcessStats();
  impl_->resident.Set(static_cast<double>(process.resident_bytes));
  impl_->virtual_memory.Set(static_cast<double>(process.virtual_bytes));
  impl_->descriptors.Set(static_cast<double>(process.open_descriptors));
  impl_->cpu.Increment(process.cpu_seconds - impl_->cpu.Value());
  return prometheus::TextSerializer().Serialize(impl_->registry_.Collect());
}

}  // namespace assay::engine
