#pragma once

#include <cstdint>
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
};

struct HarmonyOptions {
  std::string reasoning_effort = "medium";  // low | medium | high
  std::string
      current_date;  // YYYY-MM-DD; empty leaves the line out, so that prompts do not change by the day
};

struct HarmonyTokens {
  int32_t start, end, message, channel, constrain, call, return_, end_of_text;
};

// The control tokens, or an error that names the missing ones.
Result<HarmonyTokens> FindHarmonyTokens(const Tokenizer& tokenizer);

// System message (identity, date, effort, channels), then the conversation, then "<|start|>assistant". A
// "system" or "developer" chat message becomes a developer message under "# Instructions"; analysis messages
// before the last final answer are dropped.
std::vector<int32_t> RenderHarmony(const Tokenizer& tokenizer, const HarmonyTokens& tokens,
                                   std::span<const HarmonyMessage> messages, const HarmonyOptions& options);

// Reads the tokens a model generates after "<|start|>assistant". analysis is reasoning; final, commentary
// without recipient, and an unknown channel are content; a message to a tool (commentary with a recipient)
// gives no text. Control tokens give no text either, nor does a header that never reaches <|message|>. Text
// outside a message, from a model that leaves the channel out, is content, unless it turns out to be the
// start of a header
// ("assistant", " to=functions.x").
class HarmonyParser {
 public:
  HarmonyParser(const Tokenizer& tokenizer, const HarmonyTokens& tokens);

  struct Delta {
    std::string reasoning;
    std::string content;
  };
  Delta Add(int32_t id);
  Delta Finish();

 private:
  enum class State { kBetween, kHeader, kBody };
  enum class Target { kContent, kReasoning, kNowhere };

  Delta Route(std::string text) const;
  void Text(std::string text, Delta* delta);
  void OpenHeader(int32_t id);
  void OpenBody();
  void Close(Delta* delta);

  const Tokenizer* tokenizer_;
  HarmonyTokens tokens_;
  IncrementalDecoder decoder_;
  State state_ = State::kBetween;
  Target target_ = Target::kContent;
  std::string header_;   // role and recipient; between messages, text that may become that
  std::string channel_;  // what stands after <|channel|>
  bool in_channel_ = false;
};

}  // namespace assay::tokenizer
