#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

// The harmony chat format of gpt-oss: messages to prompt tokens, and generated tokens back to channels.
namespace assay::tokenizer {

struct HarmonyMessage {
  std::string role;  // system | developer | user | assistant | tool
  std::string content;
  std::string channel;  // assistant only: analysis | final | commentary; empty means final
  std::string name;
  std::string function = {};  // assistant only: the function that the content, JSON arguments, is for
};

// A function that the model may call.
struct HarmonyTool {
  std::string name;
  std::string description;
  nlohmann::ordered_json parameters;  // a JSON schema; null when it takes none
};

struct HarmonyOptions {
  std::string reasoning_effort = "medium";  // low | medium | high
  std::string
      current_date;  // YYYY-MM-DD; empty leaves the line out, so that prompts do not change by the day
  std::vector<HarmonyTool> tools = {};
};

// "# Tools", and under it the functions as TypeScript types, their schemas' descriptions as comments.
std::string HarmonyToolSection(std::span<const HarmonyTool> tools);

struct HarmonyTokens {
  int32_t start, end, message, channel, constrain, call, return_, end_of_text;
};

// The control tokens, or an error that names the missing ones.
Result<HarmonyTokens> FindHarmonyTokens(const Tokenizer& tokenizer);

// System message (identity, date, effort, channels), then the conversation, then "<|start|>assistant". A
// "system" or "developer" chat message becomes a developer message under "# Instructions", the first one with
// the tools below; analysis messages before the last final answer are dropped.
std::vector<int32_t> RenderHarmony(const Tokenizer& tokenizer, const HarmonyTokens& tokens,
                                   std::span<const HarmonyMessage> messages, const HarmonyOptions& options);

// Reads the tokens a model generates after "<|start|>assistant". analysis is reasoning; final, commentary
// without recipient, and an unknown channel are content; a message to functions.x is a call of x, if
// functions were offered; one to another tool (commentary with a recipient) gives no text. Control tokens
// give no text either, nor does a header that never reaches <|message|>. Text outside a message, from a model
// that leaves the channel out, is content, unless it turns out to be the start of a header
// ("assistant", " to=functions.x").
class HarmonyParser {
 public:
  HarmonyParser(const Tokenizer& tokenizer, const HarmonyTokens& tokens, bool functions_offered = false);

  struct Call {
    int64_t index = 0;      // of the call, from 0
    std::string name;       // when the call begins
    std::string arguments;  // the next piece
  };
  struct Delta {
    std::string reasoning;
    std::string content;
    std::vector<Call> calls = {};
  };
  Delta Add(int32_t id);
  Delta Finish();
  // Inside the text of an analysis message.
  bool InReasoning() const { return state_ == State::kBody && target_ == Target::kReasoning; }

 private:
  enum class State { kBetween, kHeader, kBody };
  enum class Target { kContent, kReasoning, kCall, kNowhere };

  void Route(std::string text, Delta* delta) const;
  void Text(std::string text, Delta* delta);
  void OpenHeader(int32_t id);
  void OpenBody(Delta* delta);
  void Close(Delta* delta);

  const Tokenizer* tokenizer_;
  HarmonyTokens tokens_;
  bool functions_offered_;
  int64_t calls_ = 0;
  IncrementalDecoder decoder_;
  State state_ = State::kBetween;
  Target target_ = Target::kContent;
  std::string header_;   // role and recipient; between messages, text that may become that
  std::string channel_;  // what stands after <|channel|>
  bool in_channel_ = false;
};

}  // namespace assay::tokenizer
