#include "engine/server/request_rules.h"

#include "engine/scheduler/philox.h"

namespace assay::engine {
namespace {

constexpr int64_t kLongestTokenBytes = 256;  // o200k's longest is 128 spaces
constexpr size_t kMostStops = 64;
constexpr size_t kLongestStopBytes = 1024;

Status CheckStops(const std::vector<std::string>& stops) {
  if (stops.size() > kMostStops) {
    return Fail(ErrorKind::kUsage, "stop: at most {} strings, got {}", kMostStops, stops.size());
  }
  for (const std::string& stop : stops) {
    if (stop.size() > kLongestStopBytes) {
      return Fail(ErrorKind::kUsage, "stop: a string of {} bytes; at most {}", stop.size(),
                  kLongestStopBytes);
    }
  }
  return {};
}

Status CheckLength(int64_t prompt, const wire::Sampling& sampling, int64_t max_model_len) {
  if (prompt == 0) return Fail(ErrorKind::kUsage, "the prompt is empty; at least one token is needed");
  if (prompt >= max_model_len) {
    return Fail(
        ErrorKind::kUsage,
        "This model's maximum context length is {} tokens. However, your prompt has {} tokens; at least "
        "one is needed for the answer. Please shorten the prompt.",
        max_model_len, prompt);
  }
  const int64_t room = max_model_len - prompt;
  if (sampling.max_tokens && *sampling.max_tokens > room) {
    return Fail(
        ErrorKind::kUsage,
        "max_tokens is too large: {}. This model's maximum context length is {} tokens and your prompt "
        "has {} tokens, which leaves {}.",
        *sampling.max_tokens, max_model_len, prompt, room);
  }
  if (sampling.min_tokens > room) {
    return Fail(ErrorKind::kUsage, "min_tokens is too large: {}; the context leaves {} tokens",
                sampling.min_tokens, room);
  }
  return {};
}

Status CheckBias(const wire::Sampling& sampling, int64_t vocab_size) {
  for (const auto& [id, bias] : sampling.logit_bias) {
    RETURN_IF_ERROR(CheckIds("logit_bias", {id}, vocab_size));
  }
  return {};
}

}  // namespace

Status CheckIds(const char* field, const std::vector<int32_t>& ids, int64_t vocab_size) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocab_size) {
      return Fail(ErrorKind::kUsage, "{}: token id {} is out of range; the vocabulary has {} tokens", field,
                  id, vocab_size);
    }
  }
  return {};
}

Result<GenerationRequest> MakeGenerationRequest(std::vector<int32_t> prompt, const wire::Sampling& sampling,
                                                const RequestRules& rules, uint64_t seed) {
  RETURN_IF_ERROR(CheckIds("prompt", prompt, rules.vocab_size));
  RETURN_IF_ERROR(CheckIds("stop_token_ids", sampling.stop_token_ids, rules.vocab_size));
  RETURN_IF_ERROR(CheckBias(sampling, rules.vocab_size));
  RETURN_IF_ERROR(CheckStops(sampling.stop));
  const auto length = static_cast<int64_t>(prompt.size());
  RETURN_IF_ERROR(CheckLength(length, sampling, rules.max_model_len));

  const GenerationConfig& defaults = rules.defaults;
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.temperature = sampling.temperature.value_or(defaults.do_sample ? defaults.temperature : 0);
  request.top_p = sampling.top_p.value_or(defaults.do_sample ? defaults.top_p : 1);
  request.top_k = sampling.top_k.value_or(defaults.do_sample ? defaults.top_k : 0);
  request.min_p = sampling.min_p.value_or(0);
  request.seed = seed;
  request.max_tokens = sampling.max_tokens.value_or(rules.max_model_len - length);
  request.min_tokens = sampling.min_tokens;
  request.presence_penalty = sampling.presence_penalty;
  request.frequency_penalty = sampling.frequency_penalty;
  request.repetition_penalty = sampling.repetition_penalty;
  request.logit_bias = sampling.logit_bias;
  request.logprobs = sampling.logprobs;
  request.stop_ids = sampling.stop_token_ids;
  if (!sampling.ignore_eos) {
    request.stop_ids.insert(request.stop_ids.end(), defaults.eos_token_ids.begin(),
                            defaults.eos_token_ids.end());
  }
  return request;
}

uint64_t ChoiceSeed(uint64_t seed, size_t index) {
  return index == 0 ? seed : DerivedSeed(seed, index);
}

nlohmann::json StopReason(int32_t id, const wire::Sampling& sampling, const RequestRules& rules) {
  const auto& ends = rules.defaults.eos_token_ids;
  const bool is_end = !sampling.ignore_eos && !ends.empty() && id == ends.front();
  return is_end ? nlohmann::json(nullptr) : nlohmann::json(id);
}

Status CheckTextLength(size_t bytes, const RequestRules& rules) {
  if (static_cast<int64_t>(bytes) <= rules.max_model_len * kLongestTokenBytes) return {};
  return Fail(
      ErrorKind::kUsage,
      "This model's maximum context length is {} tokens. However, your prompt has {} bytes, which cannot "
      "be that few tokens. Please shorten the prompt.",
      rules.max_model_len, bytes);
}

}  // namespace assay::engine
