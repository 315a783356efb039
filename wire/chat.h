#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

// The OpenAI HTTP protocol as plain structs. Requests are written by evals and read by engine/server;
// responses the other way round. Field names are the protocol's own. Parsers are strict about types (an error
// names the field) and lenient about unknown fields, because clients send many; a known field whose effect we
// do not have (suffix, a JSON response_format) is refused. Request parsers fail with kUsage, parsers of what
// a server sent with kInfrastructure.
namespace assay::wire {

struct Usage {
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
  std::optional<int64_t> cached_tokens;     // prompt_tokens_details.cached_tokens
  std::optional<int64_t> reasoning_tokens;  // completion_tokens_details.reasoning_tokens
  bool operator==(const Usage&) const = default;
};

// A call of a function that the request offered.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  // JSON text, as the model wrote it
  bool operator==(const ToolCall&) const = default;
};

// A function that the model may call.
struct FunctionTool {
  std::string name;
  std::string description;
  nlohmann::ordered_json parameters;  // a JSON schema, in the client's order; null when there is none
};

struct ChatMessage {
  std::string role;       // system | developer | user | assistant | tool
  std::string content;    // a list of text parts is joined without a separator, as gpt-oss servers do
  std::string reasoning;  // assistant history only; `reasoning` or `reasoning_content` on the wire
  std::string name;       // of a tool message: the function that was called, also when tool_call_id says so
  std::vector<ToolCall> tool_calls = {};  // assistant history only
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
  bool include_stop_str_in_output = false;
  bool skip_special_tokens = true;  // completions only: chat reads special tokens as harmony
  double presence_penalty = 0;      // [-2, 2]
  double frequency_penalty = 0;     // [-2, 2]
  double repetition_penalty = 1;    // > 0
  std::vector<std::pair<int32_t, float>> logit_bias = {};  // added to the logit of an id, [-100, 100]
  std::optional<int64_t> logprobs = {};  // how many alternatives beside each token's own, 0 to kMostLogprobs
  int64_t n = 1;                         // answers to each prompt
};
constexpr int64_t kMostLogprobs = 20;
constexpr int64_t kMostChoices = 128;

struct StreamOptions {
  bool include_usage = false;
  bool continuous_usage_stats = false;
};

struct ChatRequest {
  std::string model;
  std::vector<ChatMessage> messages;
  Sampling sampling;
  std::string reasoning_effort;  // low | medium | high, or empty for the server's default
  bool include_reasoning = true;
  std::vector<FunctionTool> tools;  // none when tool_choice is "none"
  std::string user;                 // who is served in turn with others
  bool stream = false;
  StreamOptions stream_options;
};

// Text, or token ids as they are.
struct Prompt {
  std::string text;
  std::vector<int32_t> ids;  // used when not empty
};

struct CompletionRequest {
  std::string model;
  std::vector<Prompt> prompts;  // answered each on its own, in one response
  Sampling sampling;
  bool echo = false;  // the prompt before the answer
  std::string user;
  bool stream = false;
  StreamOptions stream_options;
};

// {"error": {"message", "type", "param", "code"}}
struct ErrorBody {
  int status = 500;
  std::string type = "InternalServerError";  // BadRequestError | NotFoundError | ...
  std::string message;
};

// A piece of a tool call: the first of each carries id and name.
struct ToolCallDelta {
  int64_t index = 0;  // among the calls of the choice
  std::string id;
  std::string name;
  std::string arguments;
  bool operator==(const ToolCallDelta&) const = default;
};

// One `data:` payload of a chat or completions stream, reduced to what a client acts on.
struct StreamChunk {
  bool has_choice = false;  // choices is not empty
  int64_t index = 0;        // of the choice
  std::string role;
  std::string content;                            // delta.content, or text for completions
  std::string reasoning;                          // delta.reasoning | delta.reasoning_content
  std::optional<std::string> whole_content = {};  // of all chunks; in the last event of a responses stream
  std::vector<ToolCallDelta> tool_calls = {};
  std::optional<std::string> finish_reason;  // stop | length | tool_calls | ...
  nlohmann::json stop_reason = nullptr;  // beside a finish_reason: the stop string or stop token id, or null
  nlohmann::json logprobs = nullptr;     // as the endpoint shapes them; not read
  std::optional<Usage> usage;
  std::optional<ErrorBody> error;  // an error inside a 200 stream
  std::string model;
};

// One of the answers in a whole (non-streamed) response.
struct Choice {
  std::string content;
  std::string reasoning;
  std::vector<ToolCall> tool_calls;
  std::string finish_reason;
  nlohmann::json stop_reason = nullptr;
  nlohmann::json logprobs = nullptr;
};

// A whole response of either endpoint as a client reads it: the first choice.
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
nlohmann::json ChatResponseJson(const ResponseHead& head, const std::vector<Choice>& choices,
                                const Usage& usage);
nlohmann::json CompletionResponseJson(const ResponseHead& head, const std::vector<Choice>& choices,
                                      const Usage& usage);

// The log probability of one token, and of the likeliest ones in its place.
struct TokenLogprob {
  std::string text;   // valid UTF-8
  std::string bytes;  // what the token stands for, perhaps half a character
  double logprob = 0;
};
struct PositionLogprobs {
  TokenLogprob token;
  std::vector<TokenLogprob> top;
  int64_t text_offset = 0;  // characters of the answer before this token
};
// {"content": [{token, logprob, bytes, top_logprobs}]}
nlohmann::json ChatLogprobsJson(const std::vector<PositionLogprobs>& positions);
// {"text_offset", "token_logprobs", "tokens", "top_logprobs"}
nlohmann::json CompletionLogprobsJson(const std::vector<PositionLogprobs>& positions);

// {"error": {"message", "type", "param", "code"}}
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
