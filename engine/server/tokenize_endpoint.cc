#include <utility>

#include "engine/server/errors.h"
#include "engine/server/jobs.h"
#include "tokenizer/utf8.h"
#include "wire/tokenize.h"

namespace assay::engine {
namespace {

Result<std::vector<int32_t>> TokensOf(const Backstage& backstage, const wire::TokenizeRequest& request) {
  if (!request.prompt) {
    return RenderChat(backstage, request.messages, request.tools, request.reasoning_effort);
  }
  RETURN_IF_ERROR(CheckTextLength(request.prompt->size(), backstage.rules));
  return backstage.tokenizer.Encode(*request.prompt, tokenizer::Tokenizer::Specials::kParse);
}

}  // namespace

void Tokenize(Backstage& backstage, const HttpRequest& request, const Reply& reply) {
  const auto wanted = wire::ParseTokenizeRequest(request.body);
  if (!wanted) return reply->Respond(ErrorResponse(400, wanted.error().message));
  if (!KnowsModel(backstage, wanted->model, reply)) return;
  const auto tokens = TokensOf(backstage, *wanted);
  if (!tokens) return reply->Respond(ErrorResponse(400, tokens.error().message));
  nlohmann::json body = {{"count", tokens->size()},
                         {"max_model_len", backstage.rules.max_model_len},
                         {"tokens", *tokens},
                         {"token_strs", nullptr}};
  if (wanted->return_token_strs) {
    body["token_strs"] = nlohmann::json::array();
    for (const int32_t id : *tokens) {
      body["token_strs"].push_back(tokenizer::RepairUtf8(backstage.tokenizer.Decode({&id, 1})));
    }
  }
  RespondJson(*reply, body);
}

void Detokenize(Backstage& backstage, const HttpRequest& request, const Reply& reply) {
  const auto wanted = wire::ParseDetokenizeRequest(request.body);
  if (!wanted) return reply->Respond(ErrorResponse(400, wanted.error().message));
  if (!KnowsModel(backstage, wanted->model, reply)) return;
  const Status known = CheckIds("tokens", wanted->tokens, backstage.rules.vocab_size);
  if (!known) return reply->Respond(ErrorResponse(400, known.error().message));
  RespondJson(*reply, {{"prompt", tokenizer::RepairUtf8(backstage.tokenizer.Decode(wanted->tokens))}});
}

}  // namespace assay::engine
