#include "wire/chat.h"
#include "wire/json_fields.h"
#include "wire/sampling_parser.h"
#include "wire/tool_parser.h"

namespace assay::wire {
namespace {

using nlohmann::json;

void ParseContent(JsonFields* message, ChatMessage* out) {
  const json* content = message->Find("content");
  if (content == nullptr) {
    if (out->role != "assistant") message->WrongType("content", "a string or a list of text parts");
    return;
  }
  if (!content->is_array()) {
    if (!content->is_string()) return message->WrongType("content", "a string or a list of text parts");
    out->content = content->get<std::string>();
    return;
  }
  for (size_t i = 0; i < content->size(); ++i) {
    const json& part = (*content)[i];
    const std::string name = fmt::format("content[{}]", i);
    if (!part.is_object()) {
      return message->Wrong(name, "an object {\"type\": \"text\", \"text\": ...} is needed");
    }
    JsonFields fields(part, ErrorKind::kUsage, message->Path(name));
    std::string type;
    std::string text;
    fields.Text("type", &type);
    if (type != "text") fields.Wrong("type", fmt::format("only \"text\" is supported, got \"{}\"", type));
    if (fields.Find("text") == nullptr) fields.WrongType("text", "a string");
    fields.Text("text", &text);
    if (!fields.Ok()) return message->Adopt(fields);
    out->content += text;
  }
}

bool IsRole(std::string_view role) {
  for (const std::string_view known : {"system", "developer", "user", "assistant", "tool"}) {
    if (role == known) return true;
  }
  return false;
}

void ParseMessages(JsonFields* request, std::vector<ChatMessage>* out) {
  const json* messages = request->Find("messages");
  if (messages == nullptr || !messages->is_array()) {
    return request->WrongType("messages", "a list of messages");
  }
  if (messages->empty()) return request->Wrong("messages", "at least one message is needed");
  for (size_t i = 0; i < messages->size(); ++i) {
    const json& item = (*messages)[i];
    const std::string name = fmt::format("messages[{}]", i);
    if (!item.is_object()) {
      return request->Wrong(name, fmt::format("an object is needed, not {}", Excerpt(item)));
    }
    JsonFields fields(item, ErrorKind::kUsage, name);
    ChatMessage message;
    fields.Text("role", &message.role);
    if (fields.Ok() && !IsRole(message.role)) {
      fields.Wrong("role", fmt::format("must be system, developer, user, assistant or tool, got \"{}\"",
                                       message.role));
    }
    fields.Text("name", &message.name);
    ParseToolCalls(&fields, &message);
    NameCalledTool(&fields, *out, &message);
    ParseContent(&fields, &message);
    fields.Text("reasoning_content", &message.reasoning);
    fields.Text("reasoning", &message.reasoning);
    if (!fields.Ok()) return request->Adopt(fields);
    out->push_back(std::move(message));
  }
}

void ParsePrompt(JsonFields* request, const json& value, std::vector<Prompt>* out) {
  Prompt& prompt = out->emplace_back();
  if (value.is_string()) {
    prompt.text = value.get<std::string>();
  } else if (value.is_array()) {
    ParseIds(request, "prompt", value, &prompt.ids);
  } else {
    return request->Wrong("prompt",
                          fmt::format("a string or a list of token ids is needed, not {}", Excerpt(value)));
  }
  if (prompt.text.empty() && prompt.ids.empty()) request->Wrong("prompt", "must not be empty");
}

void ParsePrompts(JsonFields* request, std::vector<Prompt>* out) {
  const json* prompt = request->Find("prompt");
  if (prompt == nullptr) return request->WrongType("prompt", "a string or a list of token ids");
  const bool several =
      prompt->is_array() && !prompt->empty() && (prompt->front().is_array() || prompt->front().is_string());
  if (!several) return ParsePrompt(request, *prompt, out);
  for (const json& each : *prompt) ParsePrompt(request, each, out);
}

// Chat has a switch and a count, completions one number for both.
void ParseChatLogprobs(JsonFields* fields, Sampling* sampling) {
  bool wanted = false;
  int64_t count = 0;
  fields->Bool("logprobs", &wanted);
  fields->Integer("top_logprobs", &count, 0, kMostLogprobs);
  if (count > 0 && !wanted) fields->Wrong("top_logprobs", "needs \"logprobs\": true");
  if (wanted) sampling->logprobs = count;
}

void ParseCompletionLogprobs(JsonFields* fields, bool echo, Sampling* sampling) {
  fields->Integer("logprobs", &sampling->logprobs, 0, kMostLogprobs);
  if (echo && sampling->logprobs) {
    fields->Wrong("echo",
                  "with logprobs would need those of the prompt, which are not computed; ask for one");
  }
}

}  // namespace

Result<ChatRequest> ParseChatRequest(std::string_view body) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(body, ErrorKind::kUsage, "request body"));
  JsonFields fields(object, ErrorKind::kUsage);
  ChatRequest request;
  fields.Text("model", &request.model);
  ParseMessages(&fields, &request.messages);
  ParseSampling(&fields, &request.sampling);
  ParseEffort(&fields, "reasoning_effort", &request.reasoning_effort);
  ParseChatLogprobs(&fields, &request.sampling);
  fields.Bool("include_reasoning", &request.include_reasoning);
  fields.Text("user", &request.user);
  ParseTools(&fields, body, ToolShape::kChat, &request.tools);
  ParseStream(&fields, &request.stream, &request.stream_options);
  RefuseUnsupported(&fields);
  RETURN_IF_ERROR(fields.Check());
  return request;
}

Result<CompletionRequest> ParseCompletionRequest(std::string_view body) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(body, ErrorKind::kUsage, "request body"));
  JsonFields fields(object, ErrorKind::kUsage);
  CompletionRequest request;
  fields.Text("model", &request.model);
  ParsePrompts(&fields, &request.prompts);
  ParseSampling(&fields, &request.sampling);
  fields.Bool("echo", &request.echo);
  ParseCompletionLogprobs(&fields, request.echo, &request.sampling);
  fields.Text("user", &request.user);
  ParseStream(&fields, &request.stream, &request.stream_options);
  RefuseUnsupported(&fields);
  RETURN_IF_ERROR(fields.Check());
  return request;
}

}  // namespace assay::wire
