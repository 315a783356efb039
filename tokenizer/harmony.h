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

// Reads the tokens a model generates after "<|start|>assistant". analysis is reasoning; final, and commentary
// without recipient, are content. Control tokens give no text.
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
  enum class State { kHeader, kBody, kBetween };
  Delta Route(std::string text) const;

  const Tokenizer* tokenizer_;
  HarmonyTokens tokens_;
  IncrementalDecoder decoder_;
  State state_ = State::kHeader;
  std::string header_;
  bool in_reasoning_ = false;
};

}  // namespace assay::tokenizer
