#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/scheduler/scheduler.h"
#include "engine/server/stop_filter.h"
#include "tokenizer/harmony.h"
#include "tokenizer/tokenizer.h"
#include "wire/chat.h"

namespace assay::engine {

// What one token adds to an answer.
struct TextDelta {
  std::string reasoning;
  std::string content;
  std::vector<wire::ToolCallDelta> calls;
  std::vector<wire::PositionLogprobs> logprobs;  // when asked for; the token's own even if it has no text

  bool Empty() const { return reasoning.empty() && content.empty() && calls.empty() && logprobs.empty(); }
  void Append(TextDelta more);
};

struct TextRules {
  std::vector<std::string> stops;
  bool keep_stop = false;     // the stop string or token is part of the text
  bool skip_specials = true;  // plain text only
  int64_t min_tokens = 0;     // until there are so many, stop strings do not count
  bool logprobs = false;
  bool keep_reasoning = true;      // chat only
  bool functions_offered = false;  // chat only
  uint64_t call_id_seed = 0;
};

// Generated tokens of one choice to what a client sees. Chat tokens are read as harmony, others as plain
// text. Stop strings act on the content: reasoning and calls are not part of the answer.
class ChoiceText {
 public:
  ChoiceText(const tokenizer::Tokenizer& tokenizer, const tokenizer::HarmonyTokens& tokens,
             TextRules rules);                                         // chat
  ChoiceText(const tokenizer::Tokenizer& tokenizer, TextRules rules);  // plain

  // Text that stands before what is generated.
  void BeginWith(std::string text) { before_ = std::move(text); }
  TextDelta Add(const GeneratedToken& token);

  // A stop string has come.
  bool Stopped() const { return stop_filter_.Stopped(); }
  const std::string& StoppedBy() const { return stop_filter_.StoppedBy(); }
  int64_t ReasoningTokens() const { return reasoning_tokens_; }
  int64_t Calls() const { return calls_; }

 private:
  TextDelta Decode(int32_t id);
  TextDelta Finish();
  TextDelta FromHarmony(tokenizer::HarmonyParser::Delta delta);
  std::string Stop(std::string text);
  wire::PositionLogprobs Logprobs(const GeneratedToken& token);
  wire::TokenLogprob Named(int32_t id, float logprob) const;

  const tokenizer::Tokenizer& tokenizer_;
  TextRules rules_;
  std::variant<tokenizer::HarmonyParser, tokenizer::IncrementalDecoder> decoder_;
  StopFilter stop_filter_;
  std::string before_;
  int64_t tokens_ = 0, reasoning_tokens_ = 0, calls_ = 0;
  int64_t characters_ = 0;  // of all tokens so far
};

}  // namespace assay::engine
