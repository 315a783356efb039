#include "runner/launch/readiness.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "wire/chat.h"

namespace assay::runner {
namespace {

using State = ProbeAnswer::State;
using nlohmann::json;

constexpr std::chrono::milliseconds kCycle{50};
constexpr std::chrono::seconds kShortAnswer{30};
// The first token may take as long as compiling the kernels does; what ends that wait is `give_up`.
constexpr std::chrono::hours kFirstToken{24};

std::string Outcome(const std::string& question, const evals::HttpResult& result) {
  if (result.status == 0) return question + ": " + (result.error.empty() ? "no answer" : result.error);
  std::string text = fmt::format("{}: HTTP {}", question, result.status);
  if (!result.ok() && !result.body.empty()) text += ": " + wire::ErrorMessage(result.body).substr(0, 300);
  if (!result.error.empty()) text += ": " + result.error;
  return text;
}

// Waiting helps against a server that is not there yet or says so (5xx, 429); not against a refusal.
bool MayStillCome(const evals::HttpResult& result) {
  return result.status < 400 || result.status >= 500 || result.status == 429 || result.status == 408;
}

}  // namespace

evals::HttpResult ReadinessProbe::Ask(const std::string& path, const std::string& body,
                                      std::chrono::seconds limit) {
  evals::HttpRequest request;
  request.url = base_url_ + path;
  request.body = body;
  request.total_timeout = request.idle_timeout = limit;
  std::optional<evals::HttpResult> result;
  client_->Start(std::move(request), {}, [&](evals::HttpResult answer) { result = std::move(answer); });
  while (!result) {
    client_->Poll(kCycle);
    if (!result && give_up_()) client_->CancelAll("no answer yet");
  }
  return std::move(*result);
}

ProbeAnswer ReadinessProbe::Health(const std::string& ready_path) {
  const evals::HttpResult result = Ask(ready_path, "", kShortAnswer);
  return {result.ok() ? State::kYes : State::kNotYet, "", Outcome("GET " + ready_path, result)};
}

ProbeAnswer ReadinessProbe::Models() {
  const evals::HttpResult result = Ask("/v1/models", "", kShortAnswer);
  if (!result.ok())
    return {MayStillCome(result) ? State::kNotYet : State::kNever, "never_ready",
            Outcome("GET /v1/models", result)};
  return JudgeModelList(result.body, model_id_);
}

ProbeAnswer JudgeModelList(const std::string& body, const std::string& model_id) {
  const auto models = wire::ParseModelList(body);
  if (!models) return {State::kNever, "never_ready", "GET /v1/models: " + models.error().message};
  std::vector<std::string> ids;
  for (const wire::ModelCard& card : *models) ids.push_back(card.id);
  for (const std::string& id : ids)
    if (id == model_id) return {State::kYes, "", ""};
  if (ids.empty()) return {State::kNotYet, "", "GET /v1/models: no model yet"};
  return {State::kNever, "wrong_model",
          fmt::format("it serves {}, not {}; engine.model_id says which model is expected", Join(ids, ", "),
                      model_id)};
}

ProbeAnswer ReadinessProbe::Token() {
  bool missing = false;
  const json completion = {{"model", model_id_}, {"prompt", "Hello"}, {"max_tokens", 1}, {"temperature", 0}};
  const ProbeAnswer answer = TokenFrom("/v1/completions", completion.dump(), &missing);
  if (!missing) return answer;
  const json chat = {{"model", model_id_},
                     {"messages", json::array({{{"role", "user"}, {"content", "Hello"}}})},
                     {"max_tokens", 1},
                     {"temperature", 0}};
  return TokenFrom("/v1/chat/completions", chat.dump(), &missing);
}

ProbeAnswer ReadinessProbe::TokenFrom(const std::string& path, const std::string& body, bool* missing) {
  const evals::HttpResult result = Ask(path, body, kFirstToken);
  *missing = result.status == 404 || result.status == 405 || result.status == 501;
  if (!result.ok())
    return {MayStillCome(result) ? State::kNotYet : State::kNever, "never_ready",
            Outcome("POST " + path, result)};
  return JudgeToken(path, result.body, model_id_);
}

ProbeAnswer JudgeToken(const std::string& path, const std::string& body, const std::string& model_id) {
  const bool chat = path == "/v1/chat/completions";
  const auto answer = chat ? wire::ParseChatResponse(body) : wire::ParseCompletionResponse(body);
  if (!answer) return {State::kNever, "never_ready", "POST " + path + ": " + answer.error().message};
  if (!answer->model.empty() && answer->model != model_id)
    return {State::kNever, "wrong_model",
            fmt::format("{} answers, not {}; engine.model_id says which model is expected", answer->model,
                        model_id)};
  // The one token may be of a reasoning channel's opening and show no text; then usage counts it.
  const bool token =
      answer->usage.completion_tokens > 0 || !answer->content.empty() || !answer->reasoning.empty();
  if (!token) return {State::kNotYet, "", "POST " + path + ": an answer without a token"};
  return {State::kYes, "", ""};
}

}  // namespace assay::runner
