#include <limits>

#include "base/text.h"
#include "wire/error_shapes.h"
#include "wire/json_fields.h"
#include "wire/responses.h"

namespace assay::wire {
namespace {

using nlohmann::json;

constexpr ErrorKind kKind = ErrorKind::kInfrastructure;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

void ParseDetail(JsonFields* usage, const char* details, const char* name, std::optional<int64_t>* out) {
  const json* object = usage->Find(details);
  if (object == nullptr) return;
  if (!object->is_object()) return usage->WrongType(details, "an object");
  JsonFields fields(*object, kKind, usage->Path(details));
  fields.Integer(name, out, 0, kMost);
  usage->Adopt(fields);
}

void ParseUsage(JsonFields* response, std::optional<Usage>* out) {
  const json* object = response->Find("usage");
  if (object == nullptr) return;
  if (!object->is_object()) return response->WrongType("usage", "an object");
  JsonFields fields(*object, kKind, response->Path("usage"));
  Usage usage;
  fields.Integer("input_tokens", &usage.prompt_tokens, 0, kMost);
  fields.Integer("output_tokens", &usage.completion_tokens, 0, kMost);
  ParseDetail(&fields, "input_tokens_details", "cached_tokens", &usage.cached_tokens);
  ParseDetail(&fields, "output_tokens_details", "reasoning_tokens", &usage.reasoning_tokens);
  response->Adopt(fields);
  *out = usage;
}

// What OpenAI's client calls output_text: the output_text parts of all messages, and nothing of the
// reasoning.
std::string OutputText(const json& response) {
  std::string text;
  const auto output = response.find("output");
  if (output == response.end() || !output->is_array()) return text;
  for (const json& item : *output) {
    if (!item.is_object() || item.value("type", json()) != "message") continue;
    const auto content = item.find("content");
    if (content == item.end() || !content->is_array()) continue;
    for (const json& part : *content) {
      if (!part.is_object() || part.value("type", json()) != "output_text") continue;
      const auto value = part.find("text");
      if (value != part.end() && value->is_string()) text += value->get_ref<const std::string&>();
    }
  }
  return text;
}

std::string IncompleteReason(const json& response) {
  const json details = response.value("incomplete_details", json());
  const json reason = details.is_object() ? details.value("reason", json()) : json();
  if (!reason.is_string()) return "incomplete";
  return reason == "max_output_tokens" ? "length" : reason.get<std::string>();
}

// response.completed, response.incomplete: the response as a whole.
void ParseEnd(JsonFields* event, bool completed, StreamChunk* chunk) {
  const json* response = event->Find("response");
  if (response == nullptr || !response->is_object()) return event->WrongType("response", "an object");
  JsonFields fields(*response, kKind, "response");
  fields.Text("model", &chunk->model);
  ParseUsage(&fields, &chunk->usage);
  event->Adopt(fields);
  chunk->has_choice = true;
  chunk->whole_content = OutputText(*response);
  chunk->finish_reason = completed ? "stop" : IncompleteReason(*response);
}

ErrorBody FailureOf(const json& event) {
  if (const json response = event.value("response", json()); response.is_object()) {
    if (std::optional<ErrorBody> error = FindError(response)) return *error;
  }
  ErrorBody body;
  const json message = event.value("message", json());
  body.message = message.is_string() ? message.get<std::string>() : "the response failed";
  return body;
}

}  // namespace

json ToResponsesJson(const ChatRequest& request) {
  json input = json::array();
  for (const ChatMessage& message : request.messages) {
    input.push_back({{"role", message.role}, {"content", message.content}});
  }
  json object = {{"model", request.model}, {"input", std::move(input)}};
  const Sampling& sampling = request.sampling;
  if (sampling.temperature) object["temperature"] = *sampling.temperature;
  if (sampling.top_p) object["top_p"] = *sampling.top_p;
  if (sampling.seed) object["seed"] = *sampling.seed;
  if (sampling.max_tokens) object["max_output_tokens"] = *sampling.max_tokens;
  if (!request.reasoning_effort.empty()) object["reasoning"] = {{"effort", request.reasoning_effort}};
  if (request.stream) object["stream"] = true;
  return object;
}

Result<StreamChunk> ParseResponsesChunk(std::string_view data) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(data, kKind, "stream event"));
  StreamChunk chunk;
  JsonFields fields(object, kKind);
  std::string type;
  fields.Text("type", &type);
  if (type == "response.failed" || type == "error") {
    chunk.error = FindError(object);
    if (!chunk.error) chunk.error = FailureOf(object);
    return chunk;
  }
  if (chunk.error = FindError(object); chunk.error) return chunk;
  if (type == "response.output_text.delta") {
    chunk.has_choice = true;
    fields.Text("delta", &chunk.content);
  } else if (StartsWith(type, "response.reasoning") && type.ends_with(".delta")) {
    chunk.has_choice = true;  // response.reasoning_text.delta, response.reasoning_summary_text.delta
    fields.Text("delta", &chunk.reasoning);
  } else if (type == "response.completed" || type == "response.incomplete") {
    ParseEnd(&fields, type == "response.completed", &chunk);
  }
  RETURN_IF_ERROR(fields.Check());
  return chunk;
}

}  // namespace assay::wire
