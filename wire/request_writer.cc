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
  if (sampling.include_stop_str_in_output) (*object)["include_stop_str_in_output"] = true;
  if (!sampling.skip_special_tokens) (*object)["skip_special_tokens"] = false;
  if (sampling.presence_penalty != 0) (*object)["presence_penalty"] = sampling.presence_penalty;
  if (sampling.frequency_penalty != 0) (*object)["frequency_penalty"] = sampling.frequency_penalty;
  if (sampling.repetition_penalty != 1) (*object)["repetition_penalty"] = sampling.repetition_penalty;
  for (const auto& [id, bias] : sampling.logit_bias) (*object)["logit_bias"][std::to_string(id)] = bias;
  if (sampling.n != 1) (*object)["n"] = sampling.n;
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
  for (const ToolCall& call : message.tool_calls) {
    object["tool_calls"].push_back({{"id", call.id},
                                    {"type", "function"},
                                    {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  }
  return object;
}

json ToolJson(const FunctionTool& tool) {
  json function = {{"name", tool.name}, {"description", tool.description}};
  if (!tool.parameters.is_null()) function["parameters"] = json(tool.parameters);
  return {{"type", "function"}, {"function", std::move(function)}};
}

json PromptJson(const Prompt& prompt) {
  return prompt.ids.empty() ? json(prompt.text) : json(prompt.ids);
}

}  // namespace

json ToJson(const ChatRequest& request) {
  json messages = json::array();
  for (const ChatMessage& message : request.messages) messages.push_back(MessageJson(message));
  json object = {{"model", request.model}, {"messages", std::move(messages)}};
  PutSampling(&object, request.sampling);
  if (request.sampling.logprobs) {
    object["logprobs"] = true;
    object["top_logprobs"] = *request.sampling.logprobs;
  }
  if (!request.reasoning_effort.empty()) object["reasoning_effort"] = request.reasoning_effort;
  if (!request.include_reasoning) object["include_reasoning"] = false;
  for (const FunctionTool& tool : request.tools) object["tools"].push_back(ToolJson(tool));
  if (!request.user.empty()) object["user"] = request.user;
  PutStream(&object, request.stream, request.stream_options);
  return object;
}

json ToJson(const CompletionRequest& request) {
  json prompts = json::array();
  for (const Prompt& prompt : request.prompts) prompts.push_back(PromptJson(prompt));
  json object = {{"model", request.model}};
  object["prompt"] = prompts.size() == 1 ? prompts.front() : prompts;
  Put(&object, "logprobs", request.sampling.logprobs);
  if (request.echo) object["echo"] = true;
  if (!request.user.empty()) object["user"] = request.user;
  PutSampling(&object, request.sampling);
  PutStream(&object, request.stream, request.stream_options);
  return object;
}

}  // namespace assay::wire
