#include "wire/json_fields.h"
#include "wire/sampling_parser.h"
#include "wire/tokenize.h"

namespace assay::wire {

using nlohmann::json;

Result<TokenizeRequest> ParseTokenizeRequest(std::string_view body) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(body, ErrorKind::kUsage, "request body"));
  JsonFields fields(object, ErrorKind::kUsage);
  TokenizeRequest request;
  if (fields.Find("prompt") != nullptr) {
    fields.Text("model", &request.model);
    fields.Text("prompt", &request.prompt.emplace());
    if (fields.Find("messages") != nullptr) fields.Wrong("messages", "give them or a prompt, not both");
  } else if (fields.Find("messages") != nullptr) {
    ASSIGN_OR_RETURN(ChatRequest chat, ParseChatRequest(body));
    request.model = std::move(chat.model);
    request.messages = std::move(chat.messages);
    request.tools = std::move(chat.tools);
    request.reasoning_effort = std::move(chat.reasoning_effort);
  } else {
    fields.Wrong("prompt", "a prompt or messages are needed");
  }
  bool add_special_tokens = true;  // gpt-oss adds none to a prompt, and a chat has its own
  fields.Bool("add_special_tokens", &add_special_tokens);
  fields.Bool("return_token_strs", &request.return_token_strs);
  RETURN_IF_ERROR(fields.Check());
  return request;
}

Result<DetokenizeRequest> ParseDetokenizeRequest(std::string_view body) {
  ASSIGN_OR_RETURN(const json object, ParseJsonObject(body, ErrorKind::kUsage, "request body"));
  JsonFields fields(object, ErrorKind::kUsage);
  DetokenizeRequest request;
  fields.Text("model", &request.model);
  const json* tokens = fields.Find("tokens");
  if (tokens == nullptr || !tokens->is_array()) {
    fields.WrongType("tokens", "a list of token ids");
  } else {
    ParseIds(&fields, "tokens", *tokens, &request.tokens);
  }
  RETURN_IF_ERROR(fields.Check());
  return request;
}

}  // namespace assay::wire
