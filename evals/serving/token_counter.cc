#include "evals/serving/token_counter.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "evals/http/client.h"
#include "evals/http/request.h"
#include "tokenizer/tokenizer.h"
#include "wire/chat.h"
#include "wire/json_fields.h"

namespace assay::evals {
namespace {

using nlohmann::json;

Result<std::vector<int32_t>> ParseIds(std::string_view body) {
  ASSIGN_OR_RETURN(const json object,
                   wire::ParseJsonObject(body, ErrorKind::kInfrastructure, "answer of /tokenize"));
  const auto tokens = object.find("tokens");
  if (tokens == object.end() || !tokens->is_array()) {
    return Fail(ErrorKind::kInfrastructure, "the answer of /tokenize has no list of tokens");
  }
  std::vector<int32_t> ids;
  for (const json& id : *tokens) {
    if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() > INT32_MAX) {
      return Fail(ErrorKind::kInfrastructure, "/tokenize gave {} for a token id", wire::Excerpt(id));
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

}  // namespace

Result<Encoder> FindEncoder(const std::string& base_url, const ServingOptions& options) {
  if (!options.tokenizer.empty()) {
    ASSIGN_OR_RETURN(auto loaded, tokenizer::Tokenizer::Load(options.tokenizer));
    const auto local = std::make_shared<const tokenizer::Tokenizer>(std::move(loaded));
    return [local](std::string_view text) -> Result<std::vector<int32_t>> { return local->Encode(text); };
  }
  HttpRequest request;
  request.url = JoinUrl(base_url, "/tokenize");
  request.headers = options.headers;
  request.total_timeout = Timeout(options.request_timeout_s);
  const std::string model = options.model;
  return [request, model](std::string_view text) -> Result<std::vector<int32_t>> {
    HttpRequest asked = request;
    // llama.cpp calls the text "content".
    asked.body = wire::JsonText(
        json{{"model", model}, {"prompt", text}, {"content", text}, {"add_special_tokens", false}});
    const HttpResult result = Fetch(asked);
    if (!result.ok()) {
      return Fail(ErrorKind::kInfrastructure,
                  "{} cannot count tokens: {}; name the folder of the model's tokenizer.json with "
                  "--tokenizer (in a config: tokenizer)",
                  asked.url,
                  result.error.empty()
                      ? fmt::format("HTTP {}: {}", result.status, wire::ErrorMessage(result.body))
                      : result.error);
    }
    return ParseIds(result.body);
  };
}

}  // namespace assay::evals
