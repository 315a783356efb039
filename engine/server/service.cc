#include "engine/server/service.h"

#include <assay_version.h>

#include <ctime>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "engine/scheduler/philox.h"
#include "engine/server/errors.h"

namespace assay::engine {
namespace {

void RespondJson(Exchange& reply, const nlohmann::json& body) {
  HttpResponse response;
  response.body = wire::JsonText(body);
  reply.Respond(response);
}

// In a time that does not tell how many characters are right.
bool SameSecret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() != b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i] ^ other);
  }
  return difference == 0;
}

const char* ReasonName(FinishReason reason) {
  return reason == FinishReason::kLength ? "length" : "stop";
}

size_t TextBytes(const std::vector<wire::ChatMessage>& messages) {
  size_t bytes = 0;
  for (const wire::ChatMessage& message : messages)
    bytes += message.content.size() + message.reasoning.size();
  return bytes;
}

std::vector<tokenizer::HarmonyMessage> ToHarmony(const std::vector<wire::ChatMessage>& messages) {
  std::vector<tokenizer::HarmonyMessage> harmony;
  for (const wire::ChatMessage& message : messages) {
    const bool only_reasoning = message.content.empty() && !message.reasoning.empty();
    if (!message.reasoning.empty())
      harmony.push_back({message.role, message.reasoning, "analysis", message.name});
    if (!only_reasoning) harmony.push_back({message.role, message.content, "", message.name});
  }
  return harmony;
}

}  // namespace

const Service::Route Service::kRoutes[] = {
    {"POST", "/v1/chat/completions", &Service::ChatCompletions},
    {"POST", "/v1/completions", &Service::Completions},
    {"GET", "/v1/models", &Service::Models},
    {"GET", "/health", &Service::Health},
    {"GET", "/version", &Service::Version},
    {"GET", "/metrics", &Service::ShowMetrics},
};

Service::Service(HttpServer& http, Scheduler& scheduler, const tokenizer::Tokenizer& tokenizer,
                 const tokenizer::HarmonyTokens& tokens, ServiceOptions options)
    : http_(http),
      scheduler_(scheduler),
      tokenizer_(tokenizer),
      tokens_(tokens),
      options_(std::move(options)),
      rules_{options_.generation, options_.vocab_size, scheduler.MaxModelLen()},
      metrics_(options_.metrics_prefix, options_.model_name),
      mailbox_([this] { http_.Post([this] { DeliverTokens(); }); }) {
  http_.SetHandler([this](HttpRequest request, Reply reply) { Handle(request, reply); });
}

void Service::Handle(const HttpRequest& request, const Reply& reply) {
  if (!Authorized(request)) {
    return reply->Respond(ErrorResponse(401, "Unauthorized: the API key is missing or wrong"));
  }
  std::string allow;
  for (const Route& route : kRoutes) {
    if (request.path != route.path) continue;
    if (request.method == route.method) return (this->*route.handle)(request, reply);
    allow = route.method;
  }
  if (allow.empty()) return reply->Respond(ErrorResponse(404, fmt::format("no such path: {}", request.path)));
  HttpResponse response = ErrorResponse(
      405, fmt::format("{} is not allowed for {}; use {}", request.method, request.path, allow));
  response.allow = allow;
  reply->Respond(response);
}

bool Service::Authorized(const HttpRequest& request) const {
  if (options_.api_key.empty() || !StartsWith(request.path, "/v1")) return true;
  constexpr std::string_view kScheme = "Bearer ";
  return StartsWith(request.authorization, kScheme) &&
         SameSecret(std::string_view(request.authorization).substr(kScheme.size()), options_.api_key);
}

bool Service::KnowsModel(const std::string& model, const Reply& reply) const {
  if (model.empty() || model == options_.model_name) return true;
  reply->Respond(ErrorResponse(404, fmt::format("The model `{}` does not exist.", model)));
  return false;
}

void Service::ChatCompletions(const HttpRequest& request, const Reply& reply) {
  const auto chat = wire::ParseChatRequest(request.body);
  if (!chat) return reply->Respond(ErrorResponse(400, chat.error().message));
  if (!KnowsModel(chat->model, reply)) return;
  if (const Status fits = CheckTextLength(TextBytes(chat->messages), rules_); !fits) {
    return reply->Respond(ErrorResponse(400, fits.error().message));
  }
  tokenizer::HarmonyOptions harmony = options_.harmony;
  if (!chat->reasoning_effort.empty()) harmony.reasoning_effort = chat->reasoning_effort;
  const AnswerFormat format{Endpoint::kChat, chat->stream, chat->stream_options, {}};
  Begin(tokenizer::RenderHarmony(tokenizer_, tokens_, ToHarmony(chat->messages), harmony), chat->sampling,
        format, std::make_unique<TokenText>(tokenizer_, tokens_, chat->sampling.stop), reply);
}

void Service::Completions(const HttpRequest& request, const Reply& reply) {
  const auto completion = wire::ParseCompletionRequest(request.body);
  if (!completion) return reply->Respond(ErrorResponse(400, completion.error().message));
  if (!KnowsModel(completion->model, reply)) return;
  if (const Status fits = CheckTextLength(completion->prompt_text.size(), rules_); !fits) {
    return reply->Respond(ErrorResponse(400, fits.error().message));
  }
  std::vector<int32_t> prompt = completion->prompt_ids;
  if (prompt.empty()) {
    prompt = tokenizer_.Encode(completion->prompt_text, tokenizer::Tokenizer::Specials::kParse);
  }
  const AnswerFormat format{Endpoint::kCompletion, completion->stream, completion->stream_options, {}};
  Begin(std::move(prompt), completion->sampling, format,
        std::make_unique<TokenText>(tokenizer_, completion->sampling.stop), reply);
}

void Service::Begin(std::vector<int32_t> prompt, const wire::Sampling& sampling, AnswerFormat format,
                    std::unique_ptr<TokenText> text, const Reply& reply) {
  if (stopping_) return reply->Respond(ErrorResponse(503, "the engine is stopping"));
  const uint64_t key = next_key_++;
  auto request = MakeGenerationRequest(std::move(prompt), sampling, rules_, DerivedSeed(options_.seed, key));
  if (!request) return reply->Respond(ErrorResponse(400, request.error().message));

  const char* prefix = format.endpoint == Endpoint::kChat ? "chatcmpl" : "cmpl";
  format.head = {fmt::format("{}-{:016x}", prefix, DerivedSeed(~options_.seed, key)), options_.model_name,
                 static_cast<int64_t>(std::time(nullptr))};
  Generation& generation = generations_[key];
  generation.received = RealClock().Now();
  generation.text = std::move(text);
  generation.answer = Answer::Make(reply, format);
  reply->OnGone([this, key] { OnGone(key); });
  generation.scheduler_id = scheduler_.Submit(
      std::move(*request), [this, key](const GeneratedToken& token) { mailbox_.Put(key, token); });
}

void Service::DeliverTokens() {
  for (const TokenMailbox::Letter& letter : mailbox_.TakeAll()) {
    const auto at = generations_.find(letter.key);
    if (at != generations_.end()) Deliver(letter.key, at->second, letter.token);
  }
}

void Service::Deliver(uint64_t key, Generation& generation, const GeneratedToken& token) {
  if (token.finish == FinishReason::kError || token.finish == FinishReason::kAbort) {
    const bool failed = token.finish == FinishReason::kError;
    generation.answer->Fail(failed ? MakeError(500, token.error) : MakeError(503, "the request was ended"));
    return End(key, failed ? "error" : "abort");
  }
  if (!std::exchange(generation.first_token_seen, true)) {
    metrics_.FirstToken(Seconds(RealClock().Now() - generation.received));
  }
  generation.usage.prompt_tokens = token.prompt_tokens;
  generation.usage.completion_tokens = token.output_tokens;
  TokenText& text = *generation.text;
  TextDelta delta;
  if (token.finish != FinishReason::kStop) delta = text.Add(token.id);
  if (token.finish != FinishReason::kNone && !text.Stopped()) {
    TextDelta rest = text.Finish();
    delta.reasoning += rest.reasoning;
    delta.content += rest.content;
  }
  generation.answer->Add(delta, generation.usage);
  if (token.finish == FinishReason::kNone && !text.Stopped()) return;

  const char* reason = text.Stopped() ? "stop" : ReasonName(token.finish);
  generation.answer->Finish(reason, generation.usage);
  if (token.finish == FinishReason::kNone) scheduler_.Abort(generation.scheduler_id);
  End(key, reason);
}

void Service::End(uint64_t key, const std::string& finished_reason) {
  const auto at = generations_.find(key);
  metrics_.Ended(finished_reason, Seconds(RealClock().Now() - at->second.received));
  generations_.erase(at);
}

void Service::OnGone(uint64_t key) {
  const auto at = generations_.find(key);
  if (at == generations_.end()) return;
  scheduler_.Abort(at->second.scheduler_id);
  End(key, "abort");
}

void Service::Stop() {
  stopping_ = true;
  while (!generations_.empty()) {
    const auto& [key, generation] = *generations_.begin();
    scheduler_.Abort(generation.scheduler_id);
    generation.answer->Fail(MakeError(503, "the engine is stopping"));
    End(uint64_t{key}, "abort");
  }
}

void Service::Models(const HttpRequest&, const Reply& reply) {
  RespondJson(*reply, wire::ModelListJson({{options_.model_name, rules_.max_model_len}}, options_.created));
}

void Service::Health(const HttpRequest&, const Reply& reply) {
  if (stopping_) return reply->Respond(ErrorResponse(503, "the engine is stopping"));
  const double stalled = scheduler_.StalledSeconds();
  if (stalled > options_.stall_seconds) {
    const std::string reason =
        fmt::format("generation has stalled: requests wait and no step was made for {:.1f} s", stalled);
    return reply->Respond(ErrorResponse(503, reason));
  }
  reply->Respond({});
}

void Service::Version(const HttpRequest&, const Reply& reply) {
  RespondJson(*reply, {{"version", ASSAY_VERSION}, {"commit", ASSAY_COMMIT}});
}

void Service::ShowMetrics(const HttpRequest&, const Reply& reply) {
  HttpResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = metrics_.Text(scheduler_.Stats());
  reply->Respond(response);
}

}  // namespace assay::engine
