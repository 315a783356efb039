#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runner/bench/bench.h"

namespace assay::runner {

// Flags as they are written; BenchOptions as they are meant.
struct BenchFlags {
  std::string base_url, host = "127.0.0.1", served_model_name, tokenizer, range_ratio = "0.0";
  int port = 8000;
  std::string request_rate = "inf", burstiness = "1.0", definitions = "vllm", percentile_metrics, percentiles;
  std::vector<std::string> headers, goodput, find_rate, metadata;
  std::optional<int64_t> input_len, output_len, random_input_len, random_output_len, random_prefix_len;
  std::optional<int64_t> sharegpt_output_len, custom_output_len;
  int64_t prefix_len = 256, suffix_len = 256, num_prefixes = 10, prefix_output_len = 128;
  bool no_oversample = false, disable_shuffle = false, same_prompts = false, ignore_eos = false;
  std::optional<double> temperature, top_p, min_p, frequency_penalty, presence_penalty, repetition_penalty;
  std::optional<int64_t> top_k, logprobs;
  std::string extra_body, chat_template_kwargs, ignored_text;
  bool ignored_flag = false;
};

// Completes `options`, whose plain members the flags already set. kUsage names the flag.
Status ApplyFlags(const BenchFlags& flags, BenchOptions& options);

}  // namespace assay::runner
