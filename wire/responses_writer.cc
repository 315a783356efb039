#include "wire/responses.h"

namespace assay::wire {
namespace {

using nlohmann::json;
using Kind = ResponseItem::Kind;

json ResponseUsageJson(const Usage& usage) {
  return {{"input_tokens", usage.prompt_tokens},
          {"input_tokens_details", {{"cached_tokens", usage.cached_tokens.value_or(0)}}},
          {"output_tokens", usage.completion_tokens},
          {"output_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens.value_or(0)}}},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens}};
}

// The parts of an item that has only begun are none yet.
json Parts(const ResponseItem& item) {
  return item.status == "in_progress" ? json::array() : json::array({PartJson(item)});
}

}  // namespace

json PartJson(const ResponseItem& item) {
  if (item.kind == Kind::kReasoning) return {{"type", "reasoning_text"}, {"text", item.text}};
  return {{"type", "output_text"},
          {"text", item.text},
          {"annotations", json::array()},
          {"logprobs", json::array()}};
}

json ToJson(const ResponseItem& item) {
  json object = {{"id", item.id}, {"status", item.status}};
  switch (item.kind) {
    case Kind::kReasoning:
      object["type"] = "reasoning";
      object["summary"] = json::array();
      object["content"] = Parts(item);
      break;
    case Kind::kMessage:
      object["type"] = "message";
      object["role"] = "assistant";
      object["content"] = Parts(item);
      break;
    case Kind::kFunctionCall:
      object["type"] = "function_call";
      object["call_id"] = item.call_id;
      object["name"] = item.name;
      object["arguments"] = item.text;
      break;
  }
  return object;
}

json ToJson(const Response& response) {
  json object = response.settings;
  object["id"] = response.head.id;
  object["object"] = "response";
  object["created_at"] = response.head.created;
  object["model"] = response.head.model;
  object["status"] = response.status;
  object["error"] = nullptr;
  if (response.error) {
    object["error"] = {{"code", "server_error"}, {"message", response.error->message}};
  }
  object["incomplete_details"] = nullptr;
  if (!response.incomplete_reason.empty()) {
    object["incomplete_details"] = {{"reason", response.incomplete_reason}};
  }
  object["output"] = json::array();
  for (const ResponseItem& item : response.output) object["output"].push_back(ToJson(item));
  object["usage"] = response.usage ? ResponseUsageJson(*response.usage) : json(nullptr);
  return object;
}

}  // namespace assay::wire
