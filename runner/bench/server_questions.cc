#include "runner/bench/server_questions.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/secrets.h"
#include "evals/http/client.h"
#include "evals/http/request.h"
#include "wire/chat.h"

namespace assay::runner {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kShortAnswer{30}, kReadyEvery{5};

evals::HttpResult Ask(const BenchOptions& options, const std::string& path, const std::string& body = "") {
  evals::HttpRequest request;
  request.url = evals::JoinUrl(options.base_url, path);
  request.body = body;
  request.headers = options.serving.headers;
  request.total_timeout = request.idle_timeout = kShortAnswer;
  return evals::Fetch(request);
}

std::string Problem(const evals::HttpResult& result) {
  return result.error.empty() ? fmt::format("HTTP {}: {}", result.status, wire::ErrorMessage(result.body))
                              : result.error;
}

}  // namespace

Result<std::string> FirstModel(const BenchOptions& options) {
  const evals::HttpResult result = Ask(options, "/v1/models");
  if (!result.ok()) {
    return Fail(ErrorKind::kInfrastructure, "{}/v1/models: {}; name the model with --model",
                HideUserInfo(options.base_url), Problem(result));
  }
  ASSIGN_OR_RETURN(const auto models, wire::ParseModelList(result.body));
  if (models.empty())
    return Fail(ErrorKind::kInfrastructure, "{}/v1/models lists no model", HideUserInfo(options.base_url));
  return models.front().id;
}

std::string ServerVersion(const BenchOptions& options) {
  const evals::HttpResult result = Ask(options, "/version");
  const json answer = json::parse(result.body, nullptr, false);
  const auto version = answer.is_object() ? answer.find("version") : answer.end();
  return result.ok() && answer.is_object() && version != answer.end() && version->is_string()
             ? version->get<std::string>()
             : "";
}

Status WaitUntilReady(const BenchOptions& options, const std::atomic<bool>& interrupted) {
  const bool chat = options.serving.api == "chat";
  json body = {{"model", options.serving.model}, {"max_tokens", 1}};
  if (chat)
    body["messages"] = json::array({{{"role", "user"}, {"content", "Hi"}}});
  else
    body["prompt"] = "Hi";
  const TimePoint start = RealClock().Now();
  for (;;) {
    const evals::HttpResult result =
        Ask(options, chat ? "/v1/chat/completions" : "/v1/completions", body.dump());
    if (result.ok()) return {};
    if (interrupted) return Fail(ErrorKind::kInterrupted, "interrupted while waiting for the server");
    if (Seconds(RealClock().Now() + kReadyEvery - start) > options.ready_timeout_s) {
      return Fail(ErrorKind::kInfrastructure, "{} gave no token within {:g} s: {}",
                  HideUserInfo(options.base_url), options.ready_timeout_s, Problem(result));
    }
    const TimePoint next = RealClock().Now() + kReadyEvery;
    while (!interrupted && RealClock().Now() < next)
      RealClock().SleepUntil(RealClock().Now() + std::chrono::milliseconds(50));
  }
}

}  // namespace assay::runner
