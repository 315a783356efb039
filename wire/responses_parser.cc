#include <array>
#include <limits>

#include "wire/json_fields.h"
#include "wire/responses.h"
#include "wire/sampling_parser.h"
#include "wire/tool_parser.h"

namespace assay::wire {
namespace {

using nlohmann::json;

constexpr ErrorKind kKind = ErrorKind::kUsage;

// A text, or a list of parts that each hold one.
void ParseParts(JsonFields* item, std::string_view name, std::string* out) {
  const json* content = item->Find(name);
  if (content == nullptr) return item->WrongType(name, "a string or a list of text parts");
  if (content->is_string()) {
    *out = content->get<std::string>();
    return;
  }
  if (!content->is_array()) return item->WrongType(name, "a string or a list of text parts");
  for (size_t i = 0; i < content->size(); ++i) {
    const std::string part_name = fmt::format("{}[{}]", name, i);
    const json& part = (*content)[i];
    if (!part.is_object()) return item->Wrong(part_name, "an object {\"type\", \"text\"} is needed");
    JsonFields fields(part, kKind, item->Path(part_name));
    std::string type, text;
    fields.Text("type", &type);
    const bool is_text =
        type == "input_text" || type == "output_text" || type == "text" || type == "reasoning_text";
    if (fields.Ok() && !is_text) {
      fields.Wrong("type", fmt::format("only text is supported, got {}", Excerpt(json(type))));
    }
    if (fields.Find("text") == nullptr) fields.WrongType("text", "a string");
    fields.Text("text", &text);
    if (!fields.Ok()) return item->Adopt(fields);
    *out += text;
  }
}

void ParseMessage(JsonFields* item, ChatMessage* out) {
  item->Text("role", &out->role);
  const std::string& role = out->role;
  if (item->Ok() && role != "user" && role != "assistant" && role != "system" && role != "developer") {
    item->Wrong("role",
                fmt::format("must be system, developer, user or assistant, got {}", Excerpt(json(role))));
  }
  ParseParts(item, "content", &out->content);
}

void ParseReasoning(JsonFields* item, ChatMessage* out) {
  out->role = "assistant";
  const bool has_content = item->Find("content") != nullptr && !item->Find("content")->empty();
  const json* summary = item->Find("summary");
  if (has_content) {
    ParseParts(item, "content", &out->reasoning);
  } else if (summary != nullptr && !summary->empty()) {
    item->Wrong("summary", "cannot be read as reasoning; send the item with its content");
  }
}

void ParseCall(JsonFields* item, ChatMessage* out) {
  out->role = "assistant";
  ToolCall& call = out->tool_calls.emplace_back();
  item->Text("call_id", &call.id);
  item->Text("name", &call.name);
  item->Text("arguments", &call.arguments);
  if (item->Ok() && call.name.empty()) item->Wrong("name", "the name of a function is needed");
}

void ParseCallOutput(JsonFields* item, const std::vector<ChatMessage>& earlier, ChatMessage* out) {
  out->role = "tool";
  std::string id;
  item->Text("call_id", &id);
  out->name = CalledName(earlier, id);
  if (item->Ok() && out->name.empty()) {
    item->Wrong("call_id", fmt::format("no earlier item calls a function with {}", Excerpt(json(id))));
  }
  ParseParts(item, "output", &out->content);
}

void ParseItem(JsonFields* input, const std::string& name, const json& value, std::vector<ChatMessage>* out) {
  if (!value.is_object())
    return input->Wrong(name, fmt::format("an object is needed, not {}", Excerpt(value)));
  JsonFields item(value, kKind, name);
  std::string type = "message";
  item.Text("type", &type);
  ChatMessage message;
  if (type == "message") {
    ParseMessage(&item, &message);
  } else if (type == "reasoning") {
    ParseReasoning(&item, &message);
  } else if (type == "function_call") {
    ParseCall(&item, &message);
  } else if (type == "function_call_output") {
    ParseCallOutput(&item, *out, &message);
  } else {
    item.Wrong("type",
               fmt::format("must be message, reasoning, function_call or function_call_output, got {}",
                           Excerpt(json(type))));
  }
  if (!item.Ok()) return input->Adopt(item);
  const bool says_nothing = type == "reasoning" && message.reasoning.empty();
  if (!says_nothing) out->push_back(std::move(message));
}

void ParseInput(JsonFields* fields, std::vector<ChatMessage>* out) {
  std::string instructions;
  fields->Text("instructions", &instructions);
  if (!instructions.empty()) out->push_back({"developer", instructions, "", ""});
  const json* input = fields->Find("input");
  if (input != nullptr && input->is_string()) {
    out->push_back({"user", input->get<std::string>(), "", ""});
    return;
  }
  if (input == nullptr || !input->is_array())
    return fields->WrongType("input", "a string or a list of items");
  if (input->empty()) return fields->Wrong("input", "at least one item is needed");
  for (size_t i = 0; i < input->size() && fields->Ok(); ++i) {
    ParseItem(fields, fmt::format("input[{}]", i), (*input)[i], out);
  }
}

void ParseReasoningOptions(JsonFields* fields, std::string* effort) {
  const json* reasoning = fields->Find("reasoning");
  if (reasoning == nullptr) return;
  if (!reasoning->is_object()) return fields->WrongType("reasoning", "an object");
  JsonFields inner(*reasoning, kKind, "reasoning");
  ParseEffort(&inner, "effort", effort);
  for (const char* name : {"summary", "generate_summary"}) {
    if (inner.Find(name) == nullptr || *inner.Find(name) == "auto") continue;
    inner.Wrong(name, "reasoning is given whole, never summed up; leave the field out");
  }
  fields->Adopt(inner);
}

// Unlike chat's fields these mostly stand for state that a server keeps.
void RefuseState(JsonFields* fields) {
  const struct {
    const char* name;
    json neutral;
    const char* remedy;
  } rows[] = {
      {"previous_response_id", nullptr, "no response is stored; send the earlier items as input"},
      {"conversation", nullptr, "no conversation is stored; send the earlier items as input"},
      {"prompt", nullptr, "no prompt is stored; send its text as instructions"},
      {"background", false, "answers are given at once or as a stream"},
      {"truncation", "disabled", "shorten the input before sending it"},
      {"include", json::array({"reasoning.encrypted_content"}), "leave the field out"},
      {"top_logprobs", 0, "/v1/chat/completions gives logprobs"},
      {"n", 1, "/v1/chat/completions gives several answers"},
  };
  for (const auto& row : rows) {
    const json* value = fields->Find(row.name);
    if (value == nullptr || *value == row.neutral) continue;
    if (value->is_structured() && value->empty()) continue;
    fields->Wrong(row.name, fmt::format("{} is not supported; {}", Excerpt(*value), row.remedy));
  }
  const json* text = fields->Find("text");
  if (text == nullptr) return;
  if (!text->is_object()) return fields->WrongType("text", "an object");
  if (text->contains("format") && (*text)["format"] != json{{"type", "text"}}) {
    fields->Wrong("text.format", "only {\"type\": \"text\"} is supported; ask for the format in the input");
  }
}

// What the response says again, with the protocol's defaults.
json Settings(const json& request) {
  json settings = {{"instructions", nullptr},
                   {"max_output_tokens", nullptr},
                   {"metadata", json::object()},
                   {"parallel_tool_calls", true},
                   {"reasoning", {{"effort", nullptr}, {"summary", nullptr}}},
                   {"temperature", nullptr},
                   {"text", {{"format", {{"type", "text"}}}}},
                   {"tool_choice", "auto"},
                   {"tools", json::array()},
                   {"top_p", nullptr},
                   {"truncation", "disabled"},
                   {"user", nullptr}};
  for (auto& [name, value] : settings.items()) {
    if (request.contains(name) && !request[name].is_null()) value = request[name];
  }
  settings["previous_response_id"] = nullptr;
  settings["background"] = false;
  settings["store"] = false;  // whatever was asked: nothing is kept
  return settings;
}

}  // namespace

Result<ResponsesRequest> ParseResponsesRequest(std::string_view body) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(body, kKind, "request body"));
  JsonFields fields(object, kKind);
  ResponsesRequest request;
  fields.Text("model", &request.model);
  ParseInput(&fields, &request.messages);
  ParseSampling(&fields, &request.sampling);
  fields.Integer("max_output_tokens", &request.sampling.max_tokens, 1, std::numeric_limits<int64_t>::max());
  ParseReasoningOptions(&fields, &request.reasoning_effort);
  ParseTools(&fields, body, ToolShape::kResponses, &request.tools);
  fields.Text("user", &request.user);
  fields.Bool("stream", &request.stream);
  bool store = false;
  fields.Bool("store", &store);
  RefuseState(&fields);
  RETURN_IF_ERROR(fields.Check());
  request.settings = Settings(object);
  return request;
}

}  // namespace assay::wire
