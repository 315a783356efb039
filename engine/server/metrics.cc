#include "engine/server/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace assay::engine {
namespace {

using prometheus::Histogram;

const Histogram::BucketBoundaries kFirstTokenBuckets = {
    .001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560};
const Histogram::BucketBoundaries kLatencyBuckets = {.3, .5, .8, 1,  1.5, 2,   2.5, 5,   10,   15,  20,
                                                     30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680};

}  // namespace

struct Metrics::Impl {
  Impl(const std::string& prefix, const std::string& model_name)
      : prefix_(prefix), labels_{{"model_name", model_name}} {}

  std::string Name(const char* name) const { return prefix_ + ":" + name; }

  prometheus::Gauge& Gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(Name(name)).Help(help).Labels(labels_).Register(registry_).Add({});
  }
  prometheus::Counter& Counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(Name(name)).Help(help).Labels(labels_).Register(registry_).Add({});
  }
  Histogram& Latency(const char* name, const char* help, const Histogram::BucketBoundaries& buckets) {
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
  Histogram& first_token = Latency("time_to_first_token_seconds",
                                   "From receipt of a request to its first token.", kFirstTokenBuckets);
  Histogram& whole =
      Latency("e2e_request_latency_seconds", "From receipt of a request to its end.", kLatencyBuckets);
};

Metrics::Metrics(const std::string& prefix, const std::string& model_name)
    : impl_(std::make_unique<Impl>(prefix, model_name)) {
  for (const char* reason : {"stop", "length", "abort", "error"}) {
    impl_->ended.Add({{"finished_reason", reason}});
  }
}

Metrics::~Metrics() = default;

void Metrics::FirstToken(double seconds) {
  impl_->first_token.Observe(seconds);
}

void Metrics::Ended(const std::string& finished_reason, double seconds) {
  impl_->ended.Add({{"finished_reason", finished_reason}}).Increment();
  impl_->whole.Observe(seconds);
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
  return prometheus::TextSerializer().Serialize(impl_->registry_.Collect());
}

}  // namespace assay::engine
