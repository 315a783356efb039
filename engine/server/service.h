#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "engine/scheduler/scheduler.h"
#include "engine/server/answer.h"
#include "engine/server/http_server.h"
#include "engine/server/metrics.h"
#include "engine/server/request_rules.h"
#include "engine/server/token_mailbox.h"
#include "engine/server/token_text.h"
#include "tokenizer/harmony.h"

namespace assay::engine {

struct ServiceOptions {
  std::string model_name;
  std::string api_key;  // empty: /v1 is open
  tokenizer::HarmonyOptions harmony;
  GenerationConfig generation;
  int64_t vocab_size = 0;
  uint64_t seed = 0;  // requests without a seed draw theirs from this one and their number
  std::string metrics_prefix = "assay";
  double stall_seconds = 60;  // /health: no step for so long while requests wait for tokens
  int64_t created = 0;        // Unix seconds, as /v1/models shows
};

// The OpenAI protocol over one scheduler. Everything runs on the HTTP server's thread; tokens come over from
// the scheduler's in batches.
class Service {
 public:
  // Installs itself as the handler of `http`. The scheduler must end before this and `http` do.
  Service(HttpServer& http, Scheduler& scheduler, const tokenizer::Tokenizer& tokenizer,
          const tokenizer::HarmonyTokens& tokens, ServiceOptions options);

  // On the server's thread: ends every answer with an error and refuses what comes after.
  void Stop();

 private:
  using Reply = std::shared_ptr<Exchange>;
  struct Generation {
    uint64_t scheduler_id = 0;
    TimePoint received;
    bool first_token_seen = false;
    wire::Usage usage;
    std::unique_ptr<TokenText> text;
    std::unique_ptr<Answer> answer;
  };
  struct Route {
    const char* method;
    const char* path;
    void (Service::*handle)(const HttpRequest&, const Reply&);
  };
  static const Route kRoutes[];

  void Handle(const HttpRequest& request, const Reply& reply);
  bool Authorized(const HttpRequest& request) const;
  bool KnowsModel(const std::string& model, const Reply& reply) const;

  void ChatCompletions(const HttpRequest& request, const Reply& reply);
  void Completions(const HttpRequest& request, const Reply& reply);
  void Models(const HttpRequest& request, const Reply& reply);
  void Health(const HttpRequest& request, const Reply& reply);
  void Version(const HttpRequest& request, const Reply& reply);
  void ShowMetrics(const HttpRequest& request, const Reply& reply);

  void Begin(std::vector<int32_t> prompt, const wire::Sampling& sampling, AnswerFormat format,
             std::unique_ptr<TokenText> text, const Reply& reply);
  void DeliverTokens();
  void Deliver(uint64_t key, Generation& generation, const GeneratedToken& token);
  void End(uint64_t key, const std::string& finished_reason);
  void OnGone(uint64_t key);

  HttpServer& http_;
  Scheduler& scheduler_;
  const tokenizer::Tokenizer& tokenizer_;
  tokenizer::HarmonyTokens tokens_;
  ServiceOptions options_;
  RequestRules rules_;
  Metrics metrics_;
  TokenMailbox mailbox_;
  std::unordered_map<uint64_t, Generation> generations_;
  uint64_t next_key_ = 0;
  bool stopping_ = false;
};

}  // namespace assay::engine
