#include "engine/server/service.h"

#include <string_view>
#include <utility>

#include "base/text.h"
#include "engine/server/errors.h"

namespace assay::engine {
namespace {

struct Route {
  const char* method;
  const char* path;
  void (*handle)(Backstage&, const HttpRequest&, const Reply&);
  enum { kPlain, kGenerates, kOpen } kind = kPlain;  // kOpen: for whoever watches, without the API key
};

constexpr Route kRoutes[] = {
    {"POST", "/v1/chat/completions", ChatCompletions, Route::kGenerates},
    {"POST", "/v1/completions", Completions, Route::kGenerates},
    {"POST", "/v1/responses", Responses, Route::kGenerates},
    {"GET", "/v1/models", Models},
    {"POST", "/tokenize", Tokenize},
    {"POST", "/detokenize", Detokenize},
    {"GET", "/health", Health, Route::kOpen},
    {"GET", "/ping", Health, Route::kOpen},
    {"POST", "/ping", Health, Route::kOpen},
    {"GET", "/version", Version, Route::kOpen},
    {"GET", "/metrics", ShowMetrics, Route::kOpen},
    {"POST", "/reset_prefix_cache", ResetPrefixCache},
};

// In a time that does not tell how many characters are right.
bool SameSecret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() != b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    difference |= static_cast<unsigned char>(a[i] ^ other);
  }
  return difference == 0;
}

}  // namespace

Service::Service(HttpServer& http, Scheduler& scheduler, const tokenizer::Tokenizer& tokenizer,
                 const tokenizer::HarmonyTokens& tokens, ServiceOptions options)
    : metrics_(options.metrics_prefix, options.model_name, options.cache),
      backstage_{
          tokenizer, tokens,   options,     {options.generation, options.vocab_size, scheduler.MaxModelLen()},
          scheduler, metrics_, generations_},
      generations_(http, scheduler, metrics_, backstage_.rules) {
  http.SetHandler([this](HttpRequest request, Reply reply) { Handle(request, reply); });
}

void Service::Handle(const HttpRequest& request, const Reply& reply) {
  const Route* found = nullptr;
  std::vector<std::string> allowed;
  for (const Route& route : kRoutes) {
    if (request.path != route.path) continue;
    allowed.emplace_back(route.method);
    if (request.method == route.method) found = &route;
  }
  const bool open = found != nullptr && found->kind == Route::kOpen;
  if (!open && !Authorized(request)) {
    return reply->Respond(ErrorResponse(401, "Unauthorized: the API key is missing or wrong"));
  }
  if (found == nullptr) return Refuse(request, allowed, reply);
  if (found->kind == Route::kGenerates && backstage_.stopping) {
    return reply->Respond(ErrorResponse(503, "the engine is stopping"));
  }
  found->handle(backstage_, request, reply);
}

void Service::Refuse(const HttpRequest& request, const std::vector<std::string>& allowed,
                     const Reply& reply) {
  if (allowed.empty()) {
    return reply->Respond(ErrorResponse(404, fmt::format("no such path: {}", request.path)));
  }
  HttpResponse response = ErrorResponse(405, fmt::format("{} is not allowed for {}; use {}", request.method,
                                                         request.path, Join(allowed, " or ")));
  response.allow = Join(allowed, ", ");
  reply->Respond(response);
}

bool Service::Authorized(const HttpRequest& request) const {
  const std::string& key = backstage_.options.api_key;
  if (key.empty()) return true;
  constexpr std::string_view kScheme = "Bearer ";
  return StartsWith(request.authorization, kScheme) &&
         SameSecret(std::string_view(request.authorization).substr(kScheme.size()), key);
}

void Service::Stop() {
  backstage_.stopping = true;
  generations_.Stop();
}

}  // namespace assay::engine
