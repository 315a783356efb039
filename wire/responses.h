#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/chat.h"

// POST /v1/responses, without the state that other servers keep: what came before is sent again as input.
namespace assay::wire {

struct ResponsesRequest {
  std::string model;
  std::vector<ChatMessage> messages;  // the instructions and the input items
  Sampling sampling;
  std::string reasoning_effort;
  std::vector<FunctionTool> tools;
  std::string user;
  bool stream = false;
  nlohmann::json settings;  // fields of the request that the response repeats
};
Result<ResponsesRequest> ParseResponsesRequest(std::string_view body);

// The client's side: the same question that ChatRequest asks, with what this endpoint has of it.
nlohmann::json ToResponsesJson(const ChatRequest& request);
// One event's data as a chat chunk: text from output_text deltas only, finish_reason "length" for an answer
// cut at max_output_tokens. The last event also has the answer as a whole. Other events are empty chunks.
Result<StreamChunk> ParseResponsesChunk(std::string_view data);

// One item of the output.
struct ResponseItem {
  enum class Kind { kReasoning, kMessage, kFunctionCall };
  Kind kind = Kind::kMessage;
  std::string id;
  std::string text;                    // reasoning, message, or arguments of the call
  std::string call_id;                 // of a function call
  std::string name;                    // of a function call
  std::string status = "in_progress";  // in_progress | completed | incomplete
};

struct Response {
  ResponseHead head;
  nlohmann::json settings;
  std::string status = "in_progress";  // in_progress | completed | incomplete | failed
  std::string incomplete_reason;       // max_output_tokens
  std::vector<ResponseItem> output;
  std::optional<Usage> usage;
  std::optional<ErrorBody> error;
};
nlohmann::json ToJson(const ResponseItem& item);
nlohmann::json ToJson(const Response& response);

// The part that holds an item's text: {"type": "output_text" | "reasoning_text", "text"}.
nlohmann::json PartJson(const ResponseItem& item);

}  // namespace assay::wire
