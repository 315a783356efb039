#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/chat.h"

// POST /tokenize and /detokenize, as vLLM shapes them.
namespace assay::wire {

struct TokenizeRequest {
  std::string model;
  std::optional<std::string> prompt;  // or else a chat
  std::vector<ChatMessage> messages;
  std::vector<FunctionTool> tools;
  std::string reasoning_effort;
  bool return_token_strs = false;
};
Result<TokenizeRequest> ParseTokenizeRequest(std::string_view body);

struct DetokenizeRequest {
  std::string model;
  std::vector<int32_t> tokens;
};
Result<DetokenizeRequest> ParseDetokenizeRequest(std::string_view body);

}  // namespace assay::wire
