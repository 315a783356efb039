#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "evals/progress.h"
#include "record/run_record.h"

namespace assay::evals {

struct ServingOptions {
  std::string name;
  std::string dataset = "random";
  int64_t input_len = 1024;
  int64_t output_len = 128;
  int64_t num_prompts = 100;
  double request_rate = 0;  // requests/s, open loop; 0 sends everything at once ("inf")
  double burstiness = 1;    // gamma shape; 1 is Poisson
  std::optional<int64_t> max_concurrency;
  int64_t warmups = 4;
  uint64_t seed = 0;
  uint64_t repetition = 0;  // of the same measurement against one server: fresh prompts, the same arrivals
  bool ignore_eos = true;
  double temperature = 0;
  std::string model;
  int32_t vocab_size = 0;  // random token-id prompts draw from [0, vocab_size) less `special_ids`
  std::vector<int32_t> special_ids;
  double request_timeout_s = 600;
  double idle_timeout_s = 120;
};

// Drives /v1/completions with random token-id prompts of exact length (from seed, name and repetition; other
// ones for the warm-up), streaming with usage. Metrics are vLLM's definitions; docs/measuring.md has the
// formulas. Failed requests are in the record with their error.
Result<record::ServingRecord> RunServing(const std::string& base_url, const ServingOptions& options,
                                         Progress& progress,
                                         const std::function<void(const record::RequestTiming&)>& on_request);

// Planned send times in seconds from the start, as `vllm bench serve` plans them: gamma gaps, scaled so that
// the last arrival is at n / rate. rate 0: all zero.
std::vector<double> PlanArrivals(int64_t n, double rate, double burstiness, uint64_t seed);

// The summary metrics of a list of requests (vLLM definitions, numpy percentiles). Failed requests count in
// none of them but `failed` and the duration.
std::vector<record::Metric> SummariseServing(const std::vector<record::RequestTiming>& requests,
                                             double duration_s);

}  // namespace assay::evals
