#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The OpenAI HTTP protocol as plain structs. Requests are written by evals and read by engine/server;
// responses the other way round. Field names are the protocol's own. Parsers are strict about types (an error
// names the field) and lenient about unknown fields, because clients send many; a known field whose effect we
// do not have (n: 2, logprobs, tools) is refused. Request parsers fail with kUsage, parsers of what a server
// sent with kInfrastructure.
namespace assay::wire {

struct Usage {
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  std::optional<int64_t> cached_tokens;     // prompt_tokens_details.cached_tokens
  std::optional<int64_t> reasoning_tokens;  // completion_tokens_details.reasoning_tokens
  bool operator==(const Usage&) const = default;
};

struct ChatMessage {
  std::string role;       // system | developer | user | assistant | tool
  std::string content;    // a list of text parts is joined without a separator, as gpt-oss servers do
  std::string reasoning;  // assistant history only; `reasoning` or `reasoning_content` on the wire
  std::string name;
  bool operator==(const ChatMessage&) const = default;
};

// Sampling as both endpoints take it. Absent means the server's default (generation_config.json).
struct Sampling {
  std::optional<double> temperature;  // [0, 2]; 0 is greedy
  std::optional<double> top_p;        // (0, 1]
  std::optional<int64_t> top_k;       // >= 1; 0 and -1 mean off
  std::optional<double> min_p;        // [0, 1]
  std::optional<int64_t> seed;
  std::optional<int64_t> max_tokens;  // >= 1; max_completion_tokens is read as the same
  int64_t min_tokens = 0;
  bool ignore_eos = false;
  std::vector<std::string> stop;
  std::vector<int32_t> stop_token_ids;
};

struct StreamOptions {
  bool include_usage = false;
  bool continuous_usage_stats = false;
};

struct ChatRequest {
  std::string model;
  std::vector<ChatMessage> messages;
  Sampling sampling;
  std::string reasoning_effort;  // low | medium | high, or empty for the server's default
  bool stream = false;
  StreamOptions stream_options;
};

// Prompt of /v1/completions: text, or token ids as they are.
struct CompletionRequest {
  std::string model;
  std::string prompt_text;
  std::vector<int32_t> prompt_ids;  // used when not empty
  Sampling sampling;
  bool stream = false;
  StreamOptions stream_options;
};

// {"error": {"message", "type", "param", "code"}}
struct ErrorBody {
  int status = 500;
  std::string type = "InternalServerError";  // BadRequestError | NotFoundError | ...
  std::string message;
};

// One `data:` payload of a chat or completions stream, reduced to what a client acts on.
struct StreamChunk {
  bool has_choice = false;  // choices is not empty
  std::string role;
  std::string content;                       // delta.content, or text for completions
  std::string reasoning;                     // delta.reasoning | delta.reasoning_content
  std::optional<std::string> finish_reason;  // stop | length | tool_calls | ...
  std::optional<Usage> usage;
  std::optional<ErrorBody> error;  // an error inside a 200 stream
  std::string model;
};

// A whole (non-streamed) answer of either endpoint.
struct Completion {
  std::string id;
  std::string model;
  std::string content;
  std::string reasoning;
  std::string finish_reason;
  Usage usage;
};

// Compact text of a value. Never throws: a byte that is not UTF-8 becomes U+FFFD.
std::string JsonText(const nlohmann::json& value);

nlohmann::json ToJson(const ChatRequest& request);
nlohmann::json ToJson(const CompletionRequest& request);
Result<ChatRequest> ParseChatRequest(std::string_view body);
Result<CompletionRequest> ParseCompletionRequest(std::string_view body);

// One event's data, other than "[DONE]". An error the server reports inside the stream is a chunk with
// `error` set, not a failure to parse.
Result<StreamChunk> ParseChatChunk(std::string_view data);
Result<StreamChunk> ParseCompletionChunk(std::string_view data);
Result<Completion> ParseChatResponse(std::string_view body);
Result<Completion> ParseCompletionResponse(std::string_view body);

// Server side. `created` is Unix seconds.
struct ResponseHead {
  std::string id;
  std::string model;
  int64_t created = 0;
};
nlohmann::json ChatChunkJson(const ResponseHead& head, const StreamChunk& chunk);
nlohmann::json CompletionChunkJson(const ResponseHead& head, const StreamChunk& chunk);
nlohmann::json ChatResponseJson(const ResponseHead& head, const Completion& completion);
nlohmann::json CompletionResponseJson(const ResponseHead& head, const Completion& completion);

nlohmann::json ToJson(const ErrorBody& error);
// The message of an error body in any of the shapes servers use; the trimmed body itself when it has none.
std::string ErrorMessage(std::string_view body);

struct ModelCard {
  std::string id;
  int64_t max_model_len = 0;
};
nlohmann::json ModelListJson(const std::vector<ModelCard>& models, int64_t created);
Result<std::vector<ModelCard>> ParseModelList(std::string_view body);

}  // namespace assay::wire
