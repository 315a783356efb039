#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/text.h"
#include "evals/serving/conversations.h"
#include "evals/serving/serving.h"
#include "evals/serving/trace.h"

namespace assay::evals {
namespace {

Status AtLeast(const char* key, int64_t value, int64_t least) {
  if (value >= least) return {};
  return Fail(ErrorKind::kUsage, "{} must be at least {}, got {}", key, least, value);
}

template <size_t N>
Status OneOf(const char* key, const std::string& value, const std::array<std::string_view, N>& names) {
  if (std::find(names.begin(), names.end(), value) != names.end()) return {};
  return Fail(ErrorKind::kUsage, "{} must be {}, got '{}'", key, fmt::join(names, " or "), value);
}

// NaN is outside every range.
Status Within(const char* key, double value, double least, double most, bool least_excluded = false) {
  if (value >= least && value <= most && !(least_excluded && value == least)) return {};
  const std::string range = std::isinf(most)
                                ? fmt::format("{} {:g}", least_excluded ? "above" : "at least", least)
                                : fmt::format("in {}{:g}, {:g}]", least_excluded ? "(" : "[", least, most);
  return Fail(ErrorKind::kUsage, "{} must be {}, got {}", key, range, value);
}

constexpr double kAny = std::numeric_limits<double>::infinity();

Status CheckPrompts(const ServingOptions& options) {
  RETURN_IF_ERROR(OneOf("api", options.api, std::array<std::string_view, 2>{"completions", "chat"}));
  RETURN_IF_ERROR(
      OneOf("dataset", options.dataset,
            std::array<std::string_view, 4>{"random", "prefix_repetition", "sharegpt", "custom"}));
  RETURN_IF_ERROR(
      OneOf("range_convention", options.range_convention, std::array<std::string_view, 2>{"vllm", "sglang"}));
  RETURN_IF_ERROR(AtLeast("input_len", options.input_len, 1));
  RETURN_IF_ERROR(AtLeast("output_len", options.output_len, 1));
  RETURN_IF_ERROR(AtLeast("num_prompts", options.num_prompts, 1));
  RETURN_IF_ERROR(AtLeast("prefix_len", options.prefix_len, 0));
  RETURN_IF_ERROR(AtLeast("num_prefixes", options.num_prefixes, 1));
  RETURN_IF_ERROR(Within("range_ratio", options.range_ratio, 0, 1));
  RETURN_IF_ERROR(Within("output_range_ratio", options.output_range_ratio.value_or(0), 0, 1));
  if (options.range_convention == "vllm" &&
      std::max(options.range_ratio, options.output_range_ratio.value_or(0)) == 1) {
    return Fail(ErrorKind::kUsage, "range_ratio must be below 1 in vLLM's convention, got 1");
  }
  const bool file = options.dataset == "sharegpt" || options.dataset == "custom";
  if (file && options.dataset_path.empty()) {
    return Fail(ErrorKind::kUsage, "dataset {} needs a file: --dataset-path (in a config: dataset_path)",
                options.dataset);
  }
  if (!file && !options.dataset_path.empty()) {
    return Fail(ErrorKind::kUsage, "dataset {} reads no file, and dataset_path names {}", options.dataset,
                options.dataset_path.string());
  }
  return {};
}

Status CheckLoad(const ServingOptions& options) {
  RETURN_IF_ERROR(AtLeast("max_concurrency", options.max_concurrency.value_or(1), 1));
  RETURN_IF_ERROR(AtLeast("warmups", options.warmups, 0));
  if (!std::isfinite(options.request_rate) || options.request_rate < 0) {
    return Fail(ErrorKind::kUsage, "request_rate must be 0 (all at once) or above, got {}",
                options.request_rate);
  }
  RETURN_IF_ERROR(Within("burstiness", options.burstiness, 0, kAny, true));
  if (!options.ramp_up.empty()) {
    RETURN_IF_ERROR(
        OneOf("ramp_up", options.ramp_up, std::array<std::string_view, 2>{"linear", "exponential"}));
    RETURN_IF_ERROR(Within("ramp_up_start", options.ramp_up_start, 0, 1e9, true));
    RETURN_IF_ERROR(Within("ramp_up_end", options.ramp_up_end, 0, 1e9, true));
  }
  const int plans = (options.request_rate > 0 ? 1 : 0) + (options.ramp_up.empty() ? 0 : 1) +
                    (options.trace_file.empty() ? 0 : 1);
  if (plans > 1) {
    return Fail(ErrorKind::kUsage, "request_rate, ramp_up and trace_file each plan the send times; give one");
  }
  return {};
}

}  // namespace

Status CheckOptions(const ServingOptions& options) {
  RETURN_IF_ERROR(CheckPrompts(options));
  RETURN_IF_ERROR(CheckLoad(options));
  for (const auto& [name, limit] : options.goodput) {
    RETURN_IF_ERROR(OneOf("goodput", name, std::array<std::string_view, 3>{"ttft", "tpot", "e2el"}));
    RETURN_IF_ERROR(Within("goodput limit", limit, 0, kAny));
  }
  RETURN_IF_ERROR(Within("request_timeout_s", options.request_timeout_s, 0, 1e9, true));
  return Within("idle_timeout_s", options.idle_timeout_s, 0, 1e9, true);
}

Status CheckFiles(const ServingOptions& options) {
  if (options.dataset == "sharegpt") {
    ASSIGN_OR_RETURN(const auto conversations, LoadShareGpt(options.dataset_path));
  } else if (options.dataset == "custom") {
    ASSIGN_OR_RETURN(const auto conversations, LoadCustom(options.dataset_path));
  }
  if (options.trace_file.empty()) return {};
  ASSIGN_OR_RETURN(const auto trace, LoadTrace(options.trace_file));
  return {};
}

}  // namespace assay::evals
