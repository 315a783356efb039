#include "wire/tool_parser.h"

#include <algorithm>
#include <set>

namespace assay::wire {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr size_t kMostTools = 128;
constexpr size_t kLongestName = 64;
constexpr int kDeepestSchema = 32;

// Names stand in the prompt's headers.
bool IsFunctionName(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), fits);
}

void CheckName(JsonFields* fields, const std::string& name) {
  if (IsFunctionName(name)) return;
  fields->Wrong("name", fmt::format("1 to {} letters, digits, _ or - are needed, not {}", kLongestName,
                                    Excerpt(json(name))));
}

bool NoDeeperThan(const json& value, int levels) {
  if (!value.is_structured()) return true;
  if (levels == 0) return false;
  return std::all_of(value.begin(), value.end(),
                     [levels](const json& inner) { return NoDeeperThan(inner, levels - 1); });
}

void ParseTool(JsonFields* tools, const std::string& path, const json& item, const ordered_json& ordered,
               ToolShape shape, std::vector<FunctionTool>* out) {
  const bool nested = shape == ToolShape::kChat;
  if (!item.is_object()) return tools->Wrong(path, fmt::format("an object is needed, not {}", Excerpt(item)));
  JsonFields outer(item, ErrorKind::kUsage, path);
  std::string type;
  outer.Text("type", &type);
  if (outer.Ok() && type != "function") {
    outer.Wrong("type", fmt::format("only \"function\" is supported, got \"{}\"", type));
  }
  const json* function = nested ? outer.Find("function") : &item;
  if (function == nullptr || !function->is_object()) outer.WrongType("function", "an object");
  if (!outer.Ok()) return tools->Adopt(outer);

  JsonFields fields(*function, ErrorKind::kUsage, nested ? path + ".function" : path);
  FunctionTool tool;
  fields.Text("name", &tool.name);
  if (fields.Ok()) CheckName(&fields, tool.name);
  fields.Text("description", &tool.description);
  if (const json* parameters = fields.Find("parameters")) {
    if (!parameters->is_object()) fields.WrongType("parameters", "a JSON schema");
    if (!NoDeeperThan(*parameters, kDeepestSchema)) {
      fields.Wrong("parameters", fmt::format("nested more than {} deep", kDeepestSchema));
    }
    tool.parameters = nested ? ordered["function"]["parameters"] : ordered["parameters"];
  }
  if (!fields.Ok()) return tools->Adopt(fields);
  out->push_back(std::move(tool));
}

// Whether the model may call a function. To make it call one would need constrained generation.
bool ParseToolChoice(JsonFields* fields) {
  const json* choice = fields->Find("tool_choice");
  if (choice == nullptr || *choice == "auto") return true;
  if (*choice == "none") return false;
  fields->Wrong("tool_choice",
                fmt::format("\"auto\" or \"none\" is needed, not {}: a call cannot be forced; ask for it in "
                            "the prompt",
                            Excerpt(*choice)));
  return false;
}

}  // namespace

void ParseTools(JsonFields* fields, std::string_view body, ToolShape shape, std::vector<FunctionTool>* out) {
  const bool allowed = ParseToolChoice(fields);
  const json* tools = fields->Find("tools");
  if (tools == nullptr) return;
  if (!tools->is_array()) return fields->WrongType("tools", "a list of functions");
  if (tools->size() > kMostTools) {
    return fields->Wrong("tools", fmt::format("at most {}, got {}", kMostTools, tools->size()));
  }
  const ordered_json ordered = ordered_json::parse(body, nullptr, false);  // has been read once: is valid
  std::set<std::string> names;
  for (size_t i = 0; i < tools->size() && fields->Ok(); ++i) {
    const std::string path = fmt::format("tools[{}]", i);
    ParseTool(fields, path, (*tools)[i], ordered["tools"][i], shape, out);
    if (fields->Ok() && !names.insert(out->back().name).second) {
      fields->Wrong(path, fmt::format("{} is there already", out->back().name));
    }
  }
  if (!allowed) out->clear();
}

void ParseToolCalls(JsonFields* message, ChatMessage* out) {
  const json* calls = message->Find("tool_calls");
  if (calls == nullptr) return;
  if (out->role != "assistant") return message->Wrong("tool_calls", "only an assistant calls tools");
  if (!calls->is_array()) return message->WrongType("tool_calls", "a list of calls");
  for (size_t i = 0; i < calls->size(); ++i) {
    const std::string path = message->Path(fmt::format("tool_calls[{}]", i));
    const json& item = (*calls)[i];
    const json* function = nullptr;
    if (item.is_object() && item.contains("function")) function = &item["function"];
    if (function == nullptr || !function->is_object()) {
      return message->Wrong(fmt::format("tool_calls[{}]", i),
                            "an object {\"id\", \"function\": {\"name\", \"arguments\"}} is needed");
    }
    ToolCall call;
    JsonFields outer(item, ErrorKind::kUsage, path);
    outer.Text("id", &call.id);
    if (!outer.Ok()) return message->Adopt(outer);
    JsonFields fields(*function, ErrorKind::kUsage, path + ".function");
    fields.Text("name", &call.name);
    if (fields.Ok()) CheckName(&fields, call.name);
    fields.Text("arguments", &call.arguments);
    if (!fields.Ok()) return message->Adopt(fields);
    out->tool_calls.push_back(std::move(call));
  }
}

std::string CalledName(const std::vector<ChatMessage>& messages, std::string_view id) {
  for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
    for (const ToolCall& call : message->tool_calls) {
      if (call.id == id) return call.name;
    }
  }
  return "";
}

void NameCalledTool(JsonFields* message, const std::vector<ChatMessage>& earlier, ChatMessage* out) {
  if (out->role != "tool") return;
  std::string id;
  message->Text("tool_call_id", &id);
  if (id.empty()) {
    if (message->Find("name") == nullptr) {
      message->Wrong("tool_call_id", "a tool message names the call that it answers");
    }
    return;
  }
  out->name = CalledName(earlier, id);
  if (out->name.empty()) {
    message->Wrong("tool_call_id",
                   fmt::format("no earlier message calls a tool with id {}", Excerpt(json(id))));
  }
}

}  // namespace assay::wire
