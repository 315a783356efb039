#include "engine/server/jobs.h"

#include <ctime>
#include <utility>

#include "engine/scheduler/philox.h"
#include "engine/server/errors.h"

namespace assay::engine {
namespace {

constexpr size_t kMostTasks = 2048;
constexpr size_t kMostTokensOfAllTasks = 16 << 20;  // each holds its prompt

size_t TextBytes(const std::vector<wire::ChatMessage>& messages) {
  size_t bytes = 0;
  for (const wire::ChatMessage& message : messages) {
    bytes += message.content.size() + message.reasoning.size();
    for (const wire::ToolCall& call : message.tool_calls) bytes += call.arguments.size();
  }
  return bytes;
}

// Reasoning, words beside a call, and calls are messages of their own.
std::vector<tokenizer::HarmonyMessage> ToHarmony(const std::vector<wire::ChatMessage>& messages) {
  std::vector<tokenizer::HarmonyMessage> harmony;
  for (const wire::ChatMessage& message : messages) {
    const bool calls = !message.tool_calls.empty();
    const bool silent = message.content.empty() && (!message.reasoning.empty() || calls);
    if (!message.reasoning.empty()) {
      harmony.push_back({message.role, message.reasoning, "analysis", message.name});
    }
    if (!silent) harmony.push_back({message.role, message.content, calls ? "commentary" : "", message.name});
    for (const wire::ToolCall& call : message.tool_calls) {
      harmony.push_back({message.role, call.arguments, "commentary", message.name, call.name});
    }
  }
  return harmony;
}

Status CheckSize(const JobWish& wish) {
  const auto each = static_cast<size_t>(wish.sampling.n);
  if (wish.prompts.size() * each > kMostTasks) {
    return Fail(ErrorKind::kUsage, "prompt: {} prompts with {} answers each; at most {} answers to a request",
                wish.prompts.size(), each, kMostTasks);
  }
  size_t tokens = 0;
  for (const auto& prompt : wish.prompts) tokens += prompt.size() * each;
  if (tokens <= kMostTokensOfAllTasks) return {};
  return Fail(ErrorKind::kUsage, "n: the prompts of all answers have {} tokens; at most {} to a request",
              tokens, kMostTokensOfAllTasks);
}

}  // namespace

bool KnowsModel(const Backstage& backstage, const std::string& model, const Reply& reply) {
  if (model.empty() || model == backstage.options.model_name) return true;
  reply->Respond(ErrorResponse(404, fmt::format("The model `{}` does not exist.", model)));
  return false;
}

Result<std::vector<int32_t>> RenderChat(const Backstage& backstage,
                                        const std::vector<wire::ChatMessage>& messages,
                                        const std::vector<wire::FunctionTool>& tools,
                                        const std::string& reasoning_effort) {
  RETURN_IF_ERROR(CheckTextLength(TextBytes(messages), backstage.rules));
  tokenizer::HarmonyOptions options = backstage.options.harmony;
  if (!reasoning_effort.empty()) options.reasoning_effort = reasoning_effort;
  for (const wire::FunctionTool& tool : tools) {
    options.tools.push_back({tool.name, tool.description, tool.parameters});
  }
  return tokenizer::RenderHarmony(backstage.tokenizer, backstage.tokens, ToHarmony(messages), options);
}

NewRequest Register(Backstage& backstage, std::string_view id_prefix) {
  NewRequest request;
  request.number = backstage.next_request++;
  request.head.id = fmt::format("{}{:016x}", id_prefix, DerivedSeed(~backstage.options.seed, request.number));
  request.head.model = backstage.options.model_name;
  request.head.created = static_cast<int64_t>(std::time(nullptr));
  return request;
}

Result<Job> MakeJob(const Backstage& backstage, const NewRequest& request, JobWish wish) {
  RETURN_IF_ERROR(CheckSize(wish));
  const wire::Sampling& sampling = wish.sampling;
  const auto each = static_cast<size_t>(sampling.n);
  const uint64_t own_seed = DerivedSeed(backstage.options.seed, request.number);
  TextRules text;
  text.stops = sampling.stop;
  text.keep_stop = sampling.include_stop_str_in_output;
  text.skip_specials = sampling.skip_special_tokens;
  text.min_tokens = sampling.min_tokens;
  text.logprobs = sampling.logprobs.has_value();
  text.keep_reasoning = wish.keep_reasoning;
  text.functions_offered = wish.functions_offered;

  Job job;
  job.answers_each = each;
  job.chat = wish.chat;
  for (size_t i = 0; i < wish.prompts.size() * each; ++i) {
    std::vector<int32_t>& prompt = wish.prompts[i / each];
    const bool last_use = i % each == each - 1;
    // With a seed each prompt is answered as it would be alone; without, no two are alike.
    const uint64_t seed = ChoiceSeed(sampling.seed ? static_cast<uint64_t>(*sampling.seed) : own_seed,
                                     sampling.seed ? i % each : i);
    ASSIGN_OR_RETURN(
        GenerationRequest generation,
        MakeGenerationRequest(last_use ? std::move(prompt) : prompt, sampling, backstage.rules, seed));
    generation.client = wish.client;
    text.call_id_seed = DerivedSeed(~own_seed, i);
    job.tasks.push_back({std::move(generation), wish.chat
                                                    ? ChoiceText(backstage.tokenizer, backstage.tokens, text)
                                                    : ChoiceText(backstage.tokenizer, text)});
  }
  job.sampling = std::move(wish.sampling);
  return job;
}

void RespondJson(Exchange& reply, const nlohmann::json& body) {
  HttpResponse response;
  response.body = wire::JsonText(body);
  reply.Respond(response);
}

}  // namespace assay::engine
