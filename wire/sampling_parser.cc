#include "wire/sampling_parser.h"

#include <array>
#include <charconv>
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
  json neutral;        // null: only an empty value is neutral
  const char* remedy;  // what to do instead
};
constexpr const char* kLeaveOut = "leave the field out";

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

void ParsePenalties(JsonFields* fields, Sampling* sampling) {
  const auto number = [&](const char* name, double least, double most, double* out) {
    std::optional<double> value;
    fields->Number(name, &value, least, most);
    *out = value.value_or(*out);
  };
  number("presence_penalty", -2, 2, &sampling->presence_penalty);
  number("frequency_penalty", -2, 2, &sampling->frequency_penalty);
  number("repetition_penalty", 0, 100, &sampling->repetition_penalty);
  if (sampling->repetition_penalty <= 0) fields->Wrong("repetition_penalty", "must be more than 0, got 0");
}

// {"50256": -100}
void ParseLogitBias(JsonFields* fields, Sampling* sampling) {
  constexpr std::string_view kName = "logit_bias";
  const json* value = fields->Find(kName);
  if (value == nullptr) return;
  if (!value->is_object()) return fields->WrongType(kName, "an object of token id and bias");
  for (const auto& [key, bias] : value->items()) {
    int32_t id = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc{} || end != key.data() + key.size() || id < 0) {
      return fields->Wrong(kName, fmt::format("a token id is needed, not {}", Excerpt(json(key))));
    }
    const bool fits = bias.is_number() && bias.get<double>() >= -100 && bias.get<double>() <= 100;
    if (!fits) {
      return fields->Wrong(kName,
                           fmt::format("{}: a number in [-100, 100] is needed, not {}", key, Excerpt(bias)));
    }
    sampling->logit_bias.emplace_back(id, bias.get<float>());
  }
}

}  // namespace

void RefuseUnsupported(JsonFields* fields) {
  static const std::array<Unsupported, 26> kTable = {{
      {"best_of", 1, "ask for n answers and choose"},
      {"length_penalty", 1, kLeaveOut},
      {"use_beam_search", false, kLeaveOut},
      {"bad_words", nullptr, "logit_bias keeps single tokens out"},
      {"allowed_token_ids", nullptr, "logit_bias keeps single tokens out"},
      {"prompt_logprobs", nullptr, kLeaveOut},
      {"suffix", nullptr, kLeaveOut},
      {"truncate_prompt_tokens", nullptr, "shorten the prompt before sending it"},
      {"return_tokens_as_token_ids", false, kLeaveOut},
      {"return_token_ids", false, kLeaveOut},
      {"functions", nullptr, "send them as tools"},
      {"function_call", "none", "send tools and tool_choice"},
      {"response_format", json{{"type", "text"}}, "ask for the format in the prompt"},
      {"structured_outputs", nullptr, "ask for the format in the prompt"},
      {"guided_json", nullptr, "ask for the format in the prompt"},
      {"guided_regex", nullptr, "ask for the format in the prompt"},
      {"guided_choice", nullptr, "ask for the format in the prompt"},
      {"guided_grammar", nullptr, "ask for the format in the prompt"},
      {"logits_processors", nullptr, kLeaveOut},
      {"modalities", json::array({"text"}), kLeaveOut},
      {"audio", nullptr, kLeaveOut},
      {"prediction", nullptr, kLeaveOut},
      {"web_search_options", nullptr, kLeaveOut},
      {"chat_template", nullptr, "gpt-oss models have one chat format"},
      {"continue_final_message", false, "send the rendered prompt to /v1/completions"},
      {"add_generation_prompt", true, "send the rendered prompt to /v1/completions"},
  }};
  for (const auto& [name, neutral, remedy] : kTable) {
    const json* value = fields->Find(name);
    if (value == nullptr || *value == neutral || (neutral.is_null() && IsEmpty(*value))) continue;
    fields->Wrong(name, fmt::format("{} is not supported; {}", Excerpt(*value), remedy));
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
  fields->Bool("include_stop_str_in_output", &sampling->include_stop_str_in_output);
  fields->Bool("skip_special_tokens", &sampling->skip_special_tokens);
  fields->Integer("n", &sampling->n, 1, kMostChoices);
  ParsePenalties(fields, sampling);
  ParseLogitBias(fields, sampling);
  ParseStop(fields, &sampling->stop);
  if (const json* ids = fields->Find("stop_token_ids")) {
    if (!ids->is_array()) return fields->WrongType("stop_token_ids", "a list of token ids");
    ParseIds(fields, "stop_token_ids", *ids, &sampling->stop_token_ids);
  }
}

void ParseEffort(JsonFields* fields, std::string_view name, std::string* out) {
  fields->Text(name, out);
  if (out->empty() || *out == "low" || *out == "medium" || *out == "high") return;
  fields->Wrong(name, fmt::format("must be low, medium or high, got {}", Excerpt(json(*out))));
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
