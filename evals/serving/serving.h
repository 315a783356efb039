#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "evals/progress.h"
#include "record/run_record.h"

namespace assay::evals {

struct ServingOptions {
  std::string name;
  std::string model;
  bool any_model = false;  // answers may name another

  // What is sent.
  std::string api = "completions";  // completions | chat
  std::string dataset = "random";   // random | prefix_repetition | sharegpt | custom
  Path dataset_path;                // sharegpt: JSON, custom: JSON lines
  int64_t input_len = 1024;         // random: tokens after the prefix
  int64_t output_len = 128;
  double range_ratio = 0;                    // spread of both lengths
  std::optional<double> output_range_ratio;  // of the output's alone
  std::string range_convention = "vllm";     // what it means, see lengths.h: vllm | sglang
  int64_t prefix_len = 0;                    // tokens that prompts share
  int64_t num_prefixes = 1;                  // prompt i has prefix i modulo this
  bool text_prompts = false;         // random: text of exact length in place of token ids; chat always
  bool override_output_len = false;  // sharegpt, custom: output_len, whatever the data says
  bool oversample = true;            // sharegpt, custom: repeat prompts when there are too few
  bool shuffle = true;               // sharegpt, custom: by the seed alone
  int64_t skip_prompts = 0;  // sharegpt, custom: those that earlier benchmarks against this server had
  int64_t num_prompts = 100;
  bool ignore_eos = true;
  std::optional<double> temperature = 0;  // absent: none is sent, the server's default
  std::string body_patch;                 // JSON merge patch (RFC 7396) of every body: null takes a field out
  bool continuous_usage = false;          // ask for token counts in every chunk
  std::string tokenizer;   // folder; "": the server's /tokenize counts where counting is needed
  int32_t vocab_size = 0;  // random: ids below this less `special_ids`; 0: ids that /tokenize gives
  std::vector<int32_t> special_ids;

  // When.
  double request_rate = 0;  // requests/s, open loop; 0 sends everything at once ("inf")
  double burstiness = 1;    // gamma shape; 1 is Poisson, infinity is constant
  std::string ramp_up;      // "" | linear | exponential, from ramp_up_start to ramp_up_end requests/s
  double ramp_up_start = 0, ramp_up_end = 0;
  Path trace_file;  // send times, see trace.h
  std::optional<int64_t> max_concurrency;
  int64_t warmups = 4;
  bool steady_warm_up = false;  // after those, until TTFT is steady

  uint64_t seed = 0;
  uint64_t repetition = 0;    // of the same measurement against one server: the same arrivals, and
  bool fresh_prompts = true;  // new prompts for each, so that a prefix cache has nothing to give
  std::map<std::string, double> goodput;  // ttft, tpot, e2el: the most in ms for a request to be good

  // How.
  std::string endpoint;  // path; "" is that of the api
  std::vector<std::string> headers;
  double request_timeout_s = 600;
  double idle_timeout_s = 120;
};

// Drives the server with streamed requests and records each. Metrics are vLLM's definitions;
// docs/measuring.md has the formulas. Failed requests are in the record with their error. `texts`, when
// given, gets what each request of the record generated.
Result<record::ServingRecord> RunServing(const std::string& base_url, const ServingOptions& options,
                                         Progress& progress,
                                         const std::function<void(const record::RequestTiming&)>& on_request,
                                         std::vector<std::string>* texts = nullptr);

// kUsage when no server could be measured with these.
Status CheckOptions(const ServingOptions& options);
// The same of the files that they name.
Status CheckFiles(const ServingOptions& options);

// Planned send times in seconds from the start, as `vllm bench serve` plans them: gamma gaps, scaled so that
// the last arrival is at n / rate. rate 0: all zero.
std::vector<double> PlanArrivals(int64_t n, double rate, double burstiness, uint64_t seed);

// Gamma gaps whose rate goes from `start` to `end` over the requests, by equal steps or equal ratios; not
// scaled. vLLM's ramp-up.
std::vector<double> PlanRampUp(int64_t n, bool exponential, double start, double end, double burstiness,
                               uint64_t seed);

// The summary metrics of a list of requests (vLLM definitions, numpy percentiles). Failed requests count in
// none of them but `failed`, the duration and, as not good, the goodput.
std::vector<record::Metric> SummariseServing(const std::vector<record::RequestTiming>& requests,
                                             double duration_s,
                                             const std::map<std::string, double>& goodput = {});

}  // namespace assay::evals
