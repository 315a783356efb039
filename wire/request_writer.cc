#include "wire/chat.h"

namespace assay::wire {
namespace {

using nlohmann::json;

template <typename T>
void Put(json* object, const char* name, const std::optional<T>& value) {
  if (value) (*object)[name] = *value;
}

void PutSampling(json* object, const Sampling& sampling) {
  Put(object, "temperature", sampling.temperature);
  Put(object, "top_p", sampling.top_p);
  Put(object, "top_k", sampling.top_k);
  Put(object, "min_p", sampling.min_p);
  Put(object, "seed", sampling.seed);
  Put(object, "max_tokens", sampling.max_tokens);
  if (sampling.min_tokens != 0) (*object)["min_tokens"] = sampling.min_tokens;
  if (sampling.ignore_eos) (*object)["ignore_eos"] = true;
  if (!sampling.stop.empty()) (*object)["stop"] = sampling.stop;
  if (!sampling.stop_token_ids.empty()) (*object)["stop_token_ids"] = sampling.stop_token_ids;
}

void PutStream(json* object, bool stream, const StreamOptions& options) {
  if (!stream) return;
  (*object)["stream"] = true;
  if (!options.include_usage && !options.continuous_usage_stats) return;
  json& out = (*object)["stream_options"];
  out["include_usage"] = options.include_usage;
  if (options.continuous_usage_stats) out["continuous_usage_stats"] = true;
}

json MessageJson(const ChatMessage& message) {
  json object = {{"role", message.role}, {"content", message.content}};
  if (!message.reasoning.empty()) object["reasoning"] = message.reasoning;
  if (!message.name.empty()) object["name"] = message.name;
  return object;
}

}  // namespace

json ToJson(const ChatRequest& request) {
  json messages = json::array();
  for (const ChatMessage& message : request.messages) messages.push_back(MessageJson(message));
  json object = {{"model", request.model}, {"messages", std::move(messages)}};
  PutSampling(&object, request.sampling);
  if (!request.reasoning_effort.empty()) object["reasoning_effort"] = request.reasoning_effort;
  PutStream(&object, request.stream, request.stream_options);
  return object;
}

json ToJson(const CompletionRequest& request) {
  json object = {{"model", request.model}};
  if (request.prompt_ids.empty()) {
    object["prompt"] = request.prompt_text;
  } else {
    object["prompt"] = request.prompt_ids;
  }
  PutSampling(&object, request.sampling);
  PutStream(&object, request.stream, request.stream_options);
  return object;
}

}  // namespace assay::wire
