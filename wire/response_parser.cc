#include <limits>

#include "wire/chat.h"
#include "wire/error_shapes.h"
#include "wire/json_fields.h"

namespace assay::wire {
namespace {

using nlohmann::json;

constexpr ErrorKind kKind = ErrorKind::kInfrastructure;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// The object in a field, or null when it is absent or null; another type is remembered as an error.
const json* FindObject(JsonFields* fields, std::string_view name) {
  const json* value = fields->Find(name);
  if (value == nullptr || value->is_object()) return value;
  fields->WrongType(name, "an object");
  return nullptr;
}

void ParseDetail(JsonFields* usage, const char* details, const char* name, std::optional<int64_t>* out) {
  const json* object = FindObject(usage, details);
  if (object == nullptr) return;
  JsonFields fields(*object, kKind, usage->Path(details));
  fields.Integer(name, out, 0, kMost);
  usage->Adopt(fields);
}

std::optional<Usage> ParseUsage(JsonFields* parent) {
  const json* object = FindObject(parent, "usage");
  if (object == nullptr) return std::nullopt;
  JsonFields fields(*object, kKind, "usage");
  Usage usage;
  fields.Integer("prompt_tokens", &usage.prompt_tokens, 0, kMost);
  fields.Integer("completion_tokens", &usage.completion_tokens, 0, kMost);
  ParseDetail(&fields, "prompt_tokens_details", "cached_tokens", &usage.cached_tokens);
  ParseDetail(&fields, "completion_tokens_details", "reasoning_tokens", &usage.reasoning_tokens);
  parent->Adopt(fields);
  return usage;
}

// The first choice, or null when there is none.
const json* FindChoice(JsonFields* fields) {
  const json* choices = fields->Find("choices");
  if (choices == nullptr) return nullptr;
  if (!choices->is_array()) {
    fields->WrongType("choices", "a list");
    return nullptr;
  }
  if (choices->empty()) return nullptr;
  if (!choices->front().is_object()) fields->Wrong("choices[0]", "an object is needed");
  return fields->Ok() ? &choices->front() : nullptr;
}

// Text of a delta or a message. Servers between the two names of the reasoning field send both with one text.
template <typename Out>
void ParseText(JsonFields* message, Out* out) {
  message->Text("content", &out->content);
  message->Text("reasoning_content", &out->reasoning);
  std::string reasoning;
  message->Text("reasoning", &reasoning);
  if (!reasoning.empty()) out->reasoning = std::move(reasoning);
}

enum class Endpoint { kChat, kCompletions };

Result<StreamChunk> ParseChunk(std::string_view data, Endpoint endpoint) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(data, kKind, "stream event"));
  StreamChunk chunk;
  chunk.error = FindError(object);
  if (chunk.error) return chunk;
  JsonFields fields(object, kKind);
  fields.Text("model", &chunk.model);
  chunk.usage = ParseUsage(&fields);
  if (const json* choice = FindChoice(&fields)) {
    chunk.has_choice = true;
    JsonFields inner(*choice, kKind, "choices[0]");
    std::string finish_reason;
    inner.Text("finish_reason", &finish_reason);
    if (!finish_reason.empty()) chunk.finish_reason = std::move(finish_reason);
    if (endpoint == Endpoint::kCompletions) {
      inner.Text("text", &chunk.content);
    } else if (const json* delta = FindObject(&inner, "delta")) {
      JsonFields text(*delta, kKind, "choices[0].delta");
      text.Text("role", &chunk.role);
      ParseText(&text, &chunk);
      inner.Adopt(text);
    }
    fields.Adopt(inner);
  }
  RETURN_IF_ERROR(fields.Check());
  return chunk;
}

Result<Completion> ParseResponse(std::string_view body, Endpoint endpoint) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(body, kKind, "response body"));
  if (const std::optional<ErrorBody> error = FindError(object)) {
    return Fail(kKind, "the server answered with an error: {}", error->message);
  }
  JsonFields fields(object, kKind);
  Completion completion;
  fields.Text("id", &completion.id);
  fields.Text("model", &completion.model);
  completion.usage = ParseUsage(&fields).value_or(Usage{});
  const json* choice = FindChoice(&fields);
  if (choice == nullptr) {
    fields.Wrong("choices", "at least one choice is needed");
    RETURN_IF_ERROR(fields.Check());
  }
  JsonFields inner(*choice, kKind, "choices[0]");
  inner.Text("finish_reason", &completion.finish_reason);
  if (endpoint == Endpoint::kCompletions) {
    inner.Text("text", &completion.content);
  } else if (const json* message = FindObject(&inner, "message")) {
    JsonFields text(*message, kKind, "choices[0].message");
    ParseText(&text, &completion);
    inner.Adopt(text);
  } else {
    inner.WrongType("message", "an object");
  }
  fields.Adopt(inner);
  RETURN_IF_ERROR(fields.Check());
  return completion;
}

}  // namespace

Result<StreamChunk> ParseChatChunk(std::string_view data) {
  return ParseChunk(data, Endpoint::kChat);
}

Result<StreamChunk> ParseCompletionChunk(std::string_view data) {
  return ParseChunk(data, Endpoint::kCompletions);
}

Result<Completion> ParseChatResponse(std::string_view body) {
  return ParseResponse(body, Endpoint::kChat);
}

Result<Completion> ParseCompletionResponse(std::string_view body) {
  return ParseResponse(body, Endpoint::kCompletions);
}

}  // namespace assay::wire
