#include "wire/sampling_parser.h"

#include <array>
#include <limits>

namespace assay::wire {
namespace {

using nlohmann::json;

constexpr int64_t kMostInt64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeastInt64 = std::numeric_limits<int64_t>::min();
constexpr int64_t kMostInt32 = std::numeric_limits<int32_t>::max();

bool IsEmpty(const json& value) {
  return value.empty() || (value.is_string() && value.get_ref<const std::string&>().empty());
}

// Fields of the protocol whose effect we do not have: their neutral value is taken, any other refused, since
// an answer that ignores them would be wrong without a sign of it.
struct Unsupported {
  const char* name;
  json neutral;  // null: only an empty value is neutral
};

void ParseStop(JsonFields* fields, std::vector<std::string>* out) {
  const json* value = fields->Find("stop");
  if (value == nullptr) return;
  const json list = value->is_array() ? *value : json::array({*value});
  for (const json& item : list) {
    if (!item.is_string()) return fields->Wrong("stop", "a string or a list of strings is needed");
    if (item.get_ref<const std::string&>().empty()) {
      return fields->Wrong("stop", "an empty string would stop everywhere");
    }
    out->push_back(item.get<std::string>());
  }
}

}  // namespace

void RefuseUnsupported(JsonFields* fields) {
  static const std::array<Unsupported, 20> kTable = {{
      {"n", 1},
      {"best_of", 1},
      {"presence_penalty", 0},
      {"frequency_penalty", 0},
      {"repetition_penalty", 1},
      {"length_penalty", 1},
      {"logit_bias", nullptr},
      {"bad_words", nullptr},
      {"allowed_token_ids", nullptr},
      {"logprobs", false},
      {"top_logprobs", 0},
      {"prompt_logprobs", nullptr},
      {"use_beam_search", false},
      {"echo", false},
      {"suffix", nullptr},
      {"tools", nullptr},
      {"functions", nullptr},
      {"response_format", json{{"type", "text"}}},
      {"structured_outputs", nullptr},
      {"truncate_prompt_tokens", nullptr},
  }};
  for (const auto& [name, neutral] : kTable) {
    const json* value = fields->Find(name);
    if (value == nullptr || *value == neutral || (neutral.is_null() && IsEmpty(*value))) continue;
    fields->Wrong(name, fmt::format("{} is not supported; leave the field out", Excerpt(*value)));
  }
}

void ParseIds(JsonFields* fields, std::string_view name, const json& list, std::vector<int32_t>* out) {
  for (const json& item : list) {
    const bool whole = item.is_number_unsigned() && item.get<uint64_t>() <= uint64_t{kMostInt32};
    if (!whole) return fields->Wrong(name, fmt::format("token ids are needed, got {}", Excerpt(item)));
    out->push_back(item.get<int32_t>());
  }
}

void ParseSampling(JsonFields* fields, Sampling* sampling) {
  fields->Number("temperature", &sampling->temperature, 0, 2);
  fields->Number("top_p", &sampling->top_p, 0, 1);
  if (sampling->top_p == 0.0) fields->Wrong("top_p", "must be in (0, 1], got 0");
  fields->Integer("top_k", &sampling->top_k, -1, kMostInt64);
  fields->Number("min_p", &sampling->min_p, 0, 1);
  fields->Integer("seed", &sampling->seed, kLeastInt64, kMostInt64);
  fields->Integer("max_tokens", &sampling->max_tokens, 1, kMostInt64);
  fields->Integer("max_completion_tokens", &sampling->max_tokens, 1, kMostInt64);  // the newer name wins
  fields->Integer("min_tokens", &sampling->min_tokens, 0, kMostInt64);
  if (sampling->max_tokens && sampling->min_tokens > *sampling->max_tokens) {
    fields->Wrong("min_tokens",
                  fmt::format("{} is more than max_tokens, {}", sampling->min_tokens, *sampling->max_tokens));
  }
  fields->Bool("ignore_eos", &sampling->ignore_eos);
  ParseStop(fields, &sampling->stop);
  if (const json* ids = fields->Find("stop_token_ids")) {
    if (!ids->is_array()) return fields->WrongType("stop_token_ids", "a list of token ids");
    ParseIds(fields, "stop_token_ids", *ids, &sampling->stop_token_ids);
  }
}

void ParseStream(JsonFields* fields, bool* stream, StreamOptions* options) {
  fields->Bool("stream", stream);
  const json* value = fields->Find("stream_options");
  if (value == nullptr) return;
  if (!value->is_object()) return fields->WrongType("stream_options", "an object");
  if (!*stream) return fields->Wrong("stream_options", "needs \"stream\": true");
  JsonFields inner(*value, ErrorKind::kUsage, "stream_options");
  inner.Bool("include_usage", &options->include_usage);
  inner.Bool("continuous_usage_stats", &options->continuous_usage_stats);
  if (!inner.Ok()) fields->Adopt(inner);
}

}  // namespace assay::wire
