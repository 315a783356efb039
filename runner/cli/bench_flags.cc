#include "runner/cli/bench_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace assay::runner {
namespace {

// A number or inf.
Result<double> Number(const char* flag, const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && end == text.data() + text.size() && !std::isnan(value)) return value;
  return Fail(ErrorKind::kUsage, "{}: a number is needed, not '{}'", flag, text);
}

Result<double> Positive(const char* flag, const std::string& text) {
  ASSIGN_OR_RETURN(const double value, Number(flag, text));
  if (value > 0) return value;
  return Fail(ErrorKind::kUsage, "{}: must be above 0 (inf: no limit), got {}", flag, text);
}

// "ttft:200", "tpot:50"
Result<std::map<std::string, double>> Limits(const char* flag, const std::vector<std::string>& words,
                                             const std::vector<std::string>& names) {
  std::map<std::string, double> limits;
  for (const std::string& word : words) {
    const size_t colon = word.find(':');
    const std::string name = word.substr(0, colon);
    if (colon == std::string::npos || std::find(names.begin(), names.end(), name) == names.end()) {
      return Fail(ErrorKind::kUsage, "{}: {} is no limit; write NAME:MILLISECONDS with a name of {}", flag,
                  word, Join(names, ", "));
    }
    ASSIGN_OR_RETURN(limits[name], Positive(flag, word.substr(colon + 1)));
  }
  return limits;
}

Result<nlohmann::json> ParseObject(const char* flag, const std::string& text) {
  nlohmann::json object = nlohmann::json::parse(text, nullptr, false);
  if (object.is_object()) return object;
  return Fail(ErrorKind::kUsage, "{}: a JSON object is needed, not {}", flag, text);
}

// Sampling as a patch of every body. Temperature is only sent when given, as vLLM does.
Result<std::string> BodyPatch(const BenchFlags& flags) {
  nlohmann::json patch = nlohmann::json::object();
  if (!flags.extra_body.empty()) {
    ASSIGN_OR_RETURN(const auto extra, ParseObject("--extra-body", flags.extra_body));
    patch.merge_patch(extra);
  }
  const auto set = [&](const char* key, const auto& value) {
    if (value) patch[key] = *value;
  };
  set("top_p", flags.top_p);
  set("top_k", flags.top_k);
  set("min_p", flags.min_p);
  set("frequency_penalty", flags.frequency_penalty);
  set("presence_penalty", flags.presence_penalty);
  set("repetition_penalty", flags.repetition_penalty);
  set("logprobs", flags.logprobs);
  if (!flags.chat_template_kwargs.empty()) {
    ASSIGN_OR_RETURN(patch["chat_template_kwargs"],
                     ParseObject("--chat-template-kwargs", flags.chat_template_kwargs));
  }
  return patch.dump();
}

Status SetServer(const BenchFlags& flags, BenchOptions& options) {
  if (options.backend == "openai-chat") {
    options.serving.api = "chat";
  } else if (options.backend != "openai" && options.backend != "vllm") {
    return Fail(ErrorKind::kUsage, "--backend {}: must be openai, vllm or openai-chat", options.backend);
  }
  options.base_url =
      flags.base_url.empty() ? fmt::format("http://{}:{}", flags.host, flags.port) : flags.base_url;
  options.model_id = options.serving.model;
  if (!flags.served_model_name.empty()) options.serving.model = flags.served_model_name;
  options.tokenizer_id = flags.tokenizer;
  if (std::filesystem::is_directory(flags.tokenizer)) {
    options.serving.tokenizer = flags.tokenizer;
  } else if (!flags.tokenizer.empty()) {
    fmt::print(stderr, "assay bench: {} is no folder; tokens are counted by the server's /tokenize\n",
               flags.tokenizer);
  }
  for (const std::string& header : flags.headers) {
    const size_t equals = header.find('=');
    if (equals == std::string::npos || equals == 0 || header.find_first_of("\r\n") != std::string::npos)
      return Fail(ErrorKind::kUsage, "--header {}: must be NAME=VALUE on one line", header);
    options.serving.headers.push_back(header.substr(0, equals) + ": " + header.substr(equals + 1));
  }
  const char* key = std::getenv("OPENAI_API_KEY");
  if (key != nullptr && *key != '\0')
    options.serving.headers.push_back(std::string("Authorization: Bearer ") + key);
  return {};
}

Status SetData(const BenchFlags& flags, BenchOptions& options) {
  evals::ServingOptions& serving = options.serving;
  const bool random = serving.dataset == "random" || serving.dataset == "prefix_repetition";
  if (serving.dataset == "prefix_repetition") {
    serving.prefix_len = flags.prefix_len;
    serving.num_prefixes = flags.num_prefixes;
    serving.input_len = flags.suffix_len;
    serving.output_len = flags.prefix_output_len;
  } else if (serving.dataset == "random") {
    serving.input_len = flags.random_input_len.value_or(1024);
    serving.output_len = flags.random_output_len.value_or(128);
    serving.prefix_len = flags.random_prefix_len.value_or(0);
  } else {
    const auto& given = serving.dataset == "sharegpt" ? flags.sharegpt_output_len : flags.custom_output_len;
    serving.output_len = given.value_or(256);
    serving.override_output_len = given.has_value() || flags.output_len.has_value();
  }
  if (flags.input_len) serving.input_len = *flags.input_len;
  if (flags.output_len) serving.output_len = *flags.output_len;
  serving.oversample = !flags.no_oversample;
  serving.shuffle = !flags.disable_shuffle;
  serving.fresh_prompts = !flags.same_prompts;
  serving.skip_prompts = static_cast<int64_t>(serving.repetition) * serving.num_prompts;
  serving.ignore_eos = random || flags.ignore_eos;
  if (flags.range_ratio.find('{') == std::string::npos) {
    ASSIGN_OR_RETURN(serving.range_ratio, Number("--random-range-ratio", flags.range_ratio));
    return {};
  }
  ASSIGN_OR_RETURN(const auto ratios, ParseObject("--random-range-ratio", flags.range_ratio));
  if (!ratios.contains("input") || !ratios.contains("output") || !ratios["input"].is_number() ||
      !ratios["output"].is_number()) {
    return Fail(ErrorKind::kUsage, "--random-range-ratio: needs a number, or numbers for input and output");
  }
  serving.range_ratio = ratios["input"].get<double>();
  serving.output_range_ratio = ratios["output"].get<double>();
  return {};
}

Status SetLoadAndReport(const BenchFlags& flags, BenchOptions& options) {
  ASSIGN_OR_RETURN(const double rate, Positive("--request-rate", flags.request_rate));
  options.serving.request_rate = std::isinf(rate) ? 0 : rate;
  ASSIGN_OR_RETURN(options.serving.burstiness, Positive("--burstiness", flags.burstiness));
  ASSIGN_OR_RETURN(options.serving.goodput, Limits("--goodput", flags.goodput, {"ttft", "tpot", "e2el"}));
  ASSIGN_OR_RETURN(options.limits, Limits("--find-rate", flags.find_rate, {"ttft", "tpot", "itl", "e2el"}));
  if (!(options.search.first > 0 && options.search.most > 0))
    return Fail(ErrorKind::kUsage, "--start-rate and --max-rate must be above 0");
  const auto definitions = evals::FindDefinitions(flags.definitions);
  if (!definitions) {
    return Fail(ErrorKind::kUsage, "--definitions {}: must be vllm, aiperf or guidellm", flags.definitions);
  }
  options.definitions = *definitions;
  if (!flags.percentile_metrics.empty()) options.percentile_metrics = Split(flags.percentile_metrics, ',');
  if (!flags.percentiles.empty()) options.percentiles.clear();
  for (const std::string& word :
       flags.percentiles.empty() ? std::vector<std::string>() : Split(flags.percentiles, ',')) {
    ASSIGN_OR_RETURN(const double p, Number("--metric-percentiles", word));
    if (!(p >= 0 && p <= 100))
      return Fail(ErrorKind::kUsage, "--metric-percentiles: must be in [0, 100], got {}", word);
    options.percentiles.push_back(p);
  }
  for (const std::string& word : flags.metadata) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) return Fail(ErrorKind::kUsage, "--metadata {}: must be KEY=VALUE", word);
    options.metadata.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  if (options.save_detailed && !options.save_result && !options.append_result)
    return Fail(ErrorKind::kUsage, "--save-detailed says what --save-result holds; give that too");
  options.serving.temperature = flags.temperature;
  ASSIGN_OR_RETURN(options.serving.body_patch, BodyPatch(flags));
  return {};
}

}  // namespace

Status ApplyFlags(const BenchFlags& flags, BenchOptions& options) {
  RETURN_IF_ERROR(SetServer(flags, options));
  RETURN_IF_ERROR(SetData(flags, options));
  return SetLoadAndReport(flags, options);
}

}  // namespace assay::runner
