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
    choice["index"] = 0;
    choice["logprobs"] = nullptr;
    choice["finish_reason"] = chunk.finish_reason ? json(*chunk.finish_reason) : json(nullptr);
    if (chunk.finish_reason) choice["stop_reason"] = nullptr;
    object["choices"].push_back(std::move(choice));
  }
  if (chunk.usage) object["usage"] = UsageJson(*chunk.usage);
  return object;
}

json ResponseJson(const ResponseHead& head, const char* kind, const Completion& completion, json choice) {
  choice["index"] = 0;
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = OrNull(completion.finish_reason);
  choice["stop_reason"] = nullptr;
  json object = HeadJson(head, kind);
  object["choices"] = json::array({std::move(choice)});
  object["usage"] = UsageJson(completion.usage);
  return object;
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
  return ChunkJson(head, "chat.completion.chunk", chunk, {{"delta", std::move(delta)}});
}

json CompletionChunkJson(const ResponseHead& head, const StreamChunk& chunk) {
  return ChunkJson(head, "text_completion", chunk, {{"text", chunk.content}});
}

json ChatResponseJson(const ResponseHead& head, const Completion& completion) {
  // An answer cut off while still reasoning has null content, as vLLM sends it.
  const bool only_reasoning = completion.content.empty() && !completion.reasoning.empty();
  json message = {{"role", "assistant"},
                  {"content", only_reasoning ? json(nullptr) : json(completion.content)},
                  {"reasoning", OrNull(completion.reasoning)},
                  {"tool_calls", json::array()}};
  return ResponseJson(head, "chat.completion", completion, {{"message", std::move(message)}});
}

json CompletionResponseJson(const ResponseHead& head, const Completion& completion) {
  return ResponseJson(head, "text_completion", completion, {{"text", completion.content}});
}

}  // namespace assay::wire
