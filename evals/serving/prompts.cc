#include "evals/serving/prompts.h"

#include "evals/serving/conversation_prompts.h"
#include "evals/serving/random_prompts.h"
#include "wire/chat.h"
#include "wire/json_fields.h"

namespace assay::evals {
namespace {

using nlohmann::json;

template <typename Request>
json Body(const ServingOptions& options, const PlannedPrompt& prompt, Request request) {
  request.model = options.model;
  request.sampling.temperature = options.temperature;
  request.sampling.max_tokens = prompt.output_len;
  request.sampling.ignore_eos = options.ignore_eos;
  request.stream = true;
  request.stream_options.include_usage = true;
  request.stream_options.continuous_usage_stats = options.continuous_usage;
  return wire::ToJson(request);
}

}  // namespace

Result<PlannedPrompts> PlanPrompts(const ServingOptions& options, std::string_view phase, int64_t count,
                                   const std::vector<TraceEntry>& trace, const Encoder& encode) {
  if (options.dataset == "sharegpt" || options.dataset == "custom")
    return ConversationPrompts(options, phase, count, encode);
  return RandomPrompts(options, phase, count, trace, encode);
}

Result<std::string> RequestBody(const ServingOptions& options, const PlannedPrompt& prompt) {
  json body;
  if (options.api == "chat") {
    wire::ChatRequest request;
    wire::ChatMessage& message = request.messages.emplace_back();
    message.role = "user";
    message.content = prompt.text;
    body = Body(options, prompt, std::move(request));
  } else {
    wire::CompletionRequest request;
    wire::Prompt& asked = request.prompts.emplace_back();
    asked.ids = prompt.ids;
    asked.text = prompt.text;
    body = Body(options, prompt, std::move(request));
  }
  if (!options.body_patch.empty()) {
    ASSIGN_OR_RETURN(const json patch,
                     wire::ParseJsonObject(options.body_patch, ErrorKind::kUsage, "extra body"));
    body.merge_patch(patch);
  }
  return wire::JsonText(body);
}

}  // namespace assay::evals
