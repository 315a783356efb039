#pragma once

#include "engine/server/endpoints.h"
#include "engine/server/http_server.h"

namespace assay::engine {

// The OpenAI protocol over one scheduler: who may ask, and which endpoint answers. Everything runs on the
// HTTP server's thread.
class Service {
 public:
  // Installs itself as the handler of `http`. The scheduler must end before this and `http` do.
  Service(HttpServer& http, Scheduler& scheduler, const tokenizer::Tokenizer& tokenizer,
          const tokenizer::HarmonyTokens& tokens, ServiceOptions options);

  // On the server's thread: ends every answer with an error and refuses what comes after.
  void Stop();

 private:
  void Handle(const HttpRequest& request, const Reply& reply);
  static void Refuse(const HttpRequest& request, const std::vector<std::string>& allowed, const Reply& reply);
  bool Authorized(const HttpRequest& request) const;

  Metrics metrics_;
  Backstage backstage_;
  Generations generations_;
};

}  // namespace assay::engine
