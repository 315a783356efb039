#include <algorithm>

#include "wire/chat.h"

namespace assay::wire {
namespace {

using nlohmann::json;

// JSON has no minus infinity; vLLM says this instead.
double Finite(double logprob) {
  return std::max(logprob, -9999.0);
}

json TokenJson(const TokenLogprob& token) {
  json bytes = json::array();
  for (const char byte : token.bytes) bytes.push_back(static_cast<unsigned char>(byte));
  return {{"token", token.text}, {"logprob", Finite(token.logprob)}, {"bytes", std::move(bytes)}};
}

}  // namespace

json ChatLogprobsJson(const std::vector<PositionLogprobs>& positions) {
  json content = json::array();
  for (const PositionLogprobs& position : positions) {
    json token = TokenJson(position.token);
    token["top_logprobs"] = json::array();
    for (const TokenLogprob& other : position.top) token["top_logprobs"].push_back(TokenJson(other));
    content.push_back(std::move(token));
  }
  return {{"content", std::move(content)}};
}

json CompletionLogprobsJson(const std::vector<PositionLogprobs>& positions) {
  json object = {{"text_offset", json::array()},
                 {"token_logprobs", json::array()},
                 {"tokens", json::array()},
                 {"top_logprobs", json::array()}};
  for (const auto& [token, top, text_offset] : positions) {
    object["text_offset"].push_back(text_offset);
    object["token_logprobs"].push_back(Finite(token.logprob));
    object["tokens"].push_back(token.text);
    // By text: of tokens that look alike (halves of characters) the likeliest stands, and the token's own
    // always has its place.
    json likely = {{token.text, Finite(token.logprob)}};
    for (const TokenLogprob& other : top) {
      if (!likely.contains(other.text)) likely[other.text] = Finite(other.logprob);
    }
    object["top_logprobs"].push_back(std::move(likely));
  }
  return object;
}

}  // namespace assay::wire
