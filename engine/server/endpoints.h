#pragma once

#include <memory>
#include <string>

#include "engine/server/generations.h"
#include "engine/server/http_message.h"
#include "engine/server/metrics.h"
#include "engine/server/request_rules.h"
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
  CacheFacts cache;           // as /metrics shows
};

// What the endpoints work with. All on the server's thread.
struct Backstage {
  const tokenizer::Tokenizer& tokenizer;
  tokenizer::HarmonyTokens tokens;
  ServiceOptions options;
  RequestRules rules;
  Scheduler& scheduler;
  Metrics& metrics;
  Generations& generations;
  uint64_t next_request = 0;  // numbers those that generate
  bool stopping = false;
};

using Reply = std::shared_ptr<Exchange>;

void ChatCompletions(Backstage& backstage, const HttpRequest& request, const Reply& reply);
void Completions(Backstage& backstage, const HttpRequest& request, const Reply& reply);
void Responses(Backstage& backstage, const HttpRequest& request, const Reply& reply);
void Tokenize(Backstage& backstage, const HttpRequest& request, const Reply& reply);
void Detokenize(Backstage& backstage, const HttpRequest& request, const Reply& reply);
void Models(Backstage& backstage, const HttpRequest& request, const Reply& reply);
void Health(Backstage& backstage, const HttpRequest& request, const Reply& reply);
void Version(Backstage& backstage, const HttpRequest& request, const Reply& reply);
void ShowMetrics(Backstage& backstage, const HttpRequest& request, const Reply& reply);
void ResetPrefixCache(Backstage& backstage, const HttpRequest& request, const Reply& reply);

}  // namespace assay::engine
