#include "wire/chat.h"

namespace assay::wire {
namespace {

using nlohmann::json;

json UsageJson(const Usage& usage) {
  json object = {{"prompt_tokens", usage.prompt_tokens},
                 {"completion_tokens", usage.completion_tokens},
                 {"total_tokens", usage.prompt_tokens + usage.completion_tokens}};
  if (usage.cached_tokens) object["prompt_tokens_details"] = {{"cached_tokens", *usage.cached_tokens}};
  if (usage.reasoning_tokens) {
    object["completion_tokens_details"] = {{"reasoning_tokens", *usage.reasoning_tokens}};
  }
  return object;
}

json HeadJson(const ResponseHead& head, const char* kind) {
  return {{"id", head.id}, {"object", kind}, {"created", head.created}, {"model", head.model}};
}

json OrNull(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

// The parts that chunks of both endpoints share: one choice or none, usage when asked for.
json ChunkJson(const ResponseHead& head, const char* kind, const StreamChunk& chunk, json choice) {
  if (chunk.error) return ToJson(*chunk.error);
  json object = HeadJson(head, kind);
  object["choices"] = json::array();
  if (chunk.has_choice) {
    choice["index"] = chunk.index;
    choice["logprobs"] = chunk.logprobs;
    choice["finish_reason"] = chunk.finish_reason ? json(*chunk.finish_reason) : json(nullptr);
    if (chunk.finish_reason) choice["stop_reason"] = chunk.stop_reason;
    object["choices"].push_back(std::move(choice));
  }
  if (chunk.usage) object["usage"] = UsageJson(*chunk.usage);
  return object;
}

json ToolCallJson(const ToolCall& call) {
  return {{"id", call.id},
          {"type", "function"},
          {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
}

json ToolCallDeltaJson(const ToolCallDelta& call) {
  json object = {{"index", call.index}, {"function", {{"arguments", call.arguments}}}};
  if (call.id.empty()) return object;
  object["id"] = call.id;
  object["type"] = "function";
  object["function"]["name"] = call.name;
  return object;
}

// `own` gives what a choice of the endpoint holds beside what all do.
json ResponseJson(const ResponseHead& head, const char* kind, const std::vector<Choice>& choices,
                  const Usage& usage, json (*own)(const Choice&)) {
  json object = HeadJson(head, kind);
  object["choices"] = json::array();
  for (size_t i = 0; i < choices.size(); ++i) {
    json choice = own(choices[i]);
    choice["index"] = i;
    choice["logprobs"] = choices[i].logprobs;
    choice["finish_reason"] = OrNull(choices[i].finish_reason);
    choice["stop_reason"] = choices[i].stop_reason;
    object["choices"].push_back(std::move(choice));
  }
  object["usage"] = UsageJson(usage);
  return object;
}

json ChatChoiceJson(const Choice& choice) {
  // An answer of reasoning or calls alone has null content, as vLLM sends it.
  const bool no_content = choice.content.empty() && (!choice.reasoning.empty() || !choice.tool_calls.empty());
  json message = {{"role", "assistant"},
                  {"content", no_content ? json(nullptr) : json(choice.content)},
                  {"reasoning", OrNull(choice.reasoning)},
                  {"tool_calls", json::array()}};
  for (const ToolCall& call : choice.tool_calls) message["tool_calls"].push_back(ToolCallJson(call));
  return {{"message", std::move(message)}};
}

json TextChoiceJson(const Choice& choice) {
  return {{"text", choice.content}};
}

}  // namespace

std::string JsonText(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json ChatChunkJson(const ResponseHead& head, const StreamChunk& chunk) {
  json delta = json::object();
  if (!chunk.role.empty()) delta["role"] = chunk.role;
  if (!chunk.role.empty() || !chunk.content.empty()) delta["content"] = chunk.content;
  if (!chunk.reasoning.empty()) delta["reasoning"] = chunk.reasoning;
  for (const ToolCallDelta& call : chunk.tool_calls) delta["tool_calls"].push_back(ToolCallDeltaJson(call));
  return ChunkJson(head, "chat.completion.chunk", chunk, {{"delta", std::move(delta)}});
}

json CompletionChunkJson(const ResponseHead& head, const StreamChunk& chunk) {
  return ChunkJson(head, "text_completion", chunk, {{"text", chunk.content}});
}

json ChatResponseJson(const ResponseHead& head, const std::vector<Choice>& choices, const Usage& usage) {
  return ResponseJson(head, "chat.completion", choices, usage, ChatChoiceJson);
}

json CompletionResponseJson(const ResponseHead& head, const std::vector<Choice>& choices,
                            const Usage& usage) {
  return ResponseJson(head, "text_completion", choices, usage, TextChoiceJson);
}

}  // namespace assay::wire
