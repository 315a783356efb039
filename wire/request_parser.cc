#include "wire/chat.h"
#include "wire/json_fields.h"
#include "wire/sampling_parser.h"

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
    ParseContent(&fields, &message);
    fields.Text("reasoning_content", &message.reasoning);
    fields.Text("reasoning", &message.reasoning);
    fields.Text("name", &message.name);
    if (!fields.Ok()) return request->Adopt(fields);
    out->push_back(std::move(message));
  }
}

void ParsePrompt(JsonFields* request, CompletionRequest* out) {
  const char* const kNeeded = "a string or a list of token ids";
  const json* prompt = request->Find("prompt");
  if (prompt == nullptr) return request->WrongType("prompt", kNeeded);
  const bool batch =
      prompt->is_array() && !prompt->empty() && (prompt->front().is_array() || prompt->front().is_string());
  if (batch && prompt->size() > 1) {
    return request->Wrong("prompt", fmt::format("{} prompts in one request are not supported; send one "
                                                "request for each",
                                                prompt->size()));
  }
  if (batch) prompt = &prompt->front();
  if (prompt->is_string()) {
    out->prompt_text = prompt->get<std::string>();
  } else if (prompt->is_array()) {
    ParseIds(request, "prompt", *prompt, &out->prompt_ids);
  } else {
    return request->WrongType("prompt", kNeeded);
  }
  if (out->prompt_text.empty() && out->prompt_ids.empty()) request->Wrong("prompt", "must not be empty");
}

}  // namespace

Result<ChatRequest> ParseChatRequest(std::string_view body) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(body, ErrorKind::kUsage, "request body"));
  JsonFields fields(object, ErrorKind::kUsage);
  ChatRequest request;
  fields.Text("model", &request.model);
  ParseMessages(&fields, &request.messages);
  ParseSampling(&fields, &request.sampling);
  fields.Text("reasoning_effort", &request.reasoning_effort);
  const std::string& effort = request.reasoning_effort;
  if (!effort.empty() && effort != "low" && effort != "medium" && effort != "high") {
    fields.Wrong("reasoning_effort", fmt::format("must be low, medium or high, got \"{}\"", effort));
  }
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
  ParsePrompt(&fields, &request);
  ParseSampling(&fields, &request.sampling);
  ParseStream(&fields, &request.stream, &request.stream_options);
  RefuseUnsupported(&fields);
  RETURN_IF_ERROR(fields.Check());
  return request;
}

}  // namespace assay::wire
