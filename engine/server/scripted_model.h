#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "engine/scheduler/fake_model.h"

// A model for tests that says what the prompt tells it to, over a vocabulary of one token for each byte.
//
// The prompt holds "say:TEXT|". TEXT comes out byte by byte, with { } < > ^ @ # standing for <|channel|>,
// <|message|>, <|start|>, <|end|>, <|return|>, <|call|> and <|constrain|>, and % for a row of logits that are
// not numbers. After TEXT
// comes <|return|>; after "TEXT~" its last byte, for ever.
namespace assay::engine {

// Ids 0 to 255 are the bytes.
enum TestToken : int32_t {
  kStart = 256,
  kEnd,
  kMessage,
  kChannel,
  kConstrain,
  kCall,
  kReturn,
  kEndOfText,
  kTestVocabulary
};

inline int32_t ScriptToken(char c) {
  switch (c) {
    case '{':
      return kChannel;
    case '}':
      return kMessage;
    case '<':
      return kStart;
    case '>':
      return kEnd;
    case '^':
      return kReturn;
    case '@':
      return kCall;
    case '#':
      return kConstrain;
    default:
      return static_cast<unsigned char>(c);
  }
}

// The script and how many of its tokens have been said already.
inline std::pair<std::string, size_t> ReadScript(FakeModel::History history) {
  std::string text;  // control tokens as \x01, which no test says
  for (const int32_t id : history) text += id < 256 ? static_cast<char>(id) : '\x01';
  const size_t begin = text.find("say:");
  const size_t bar = text.find('|', begin);
  if (begin == std::string::npos || bar == std::string::npos) return {"", 0};
  const std::string script = text.substr(begin + 4, bar - begin - 4);
  // In a chat the answer begins after the header that ends the prompt.
  constexpr std::string_view kHeader =
      "\x01"
      "assistant";
  const bool chat = bar + 1 < history.size() && history[bar + 1] == kEnd;
  const size_t said_from = chat ? text.find(kHeader, bar) + kHeader.size() : bar + 1;
  return {script, history.size() - said_from};
}

inline void ScriptRule(FakeModel::History history, std::span<float> logits) {
  auto [script, said] = ReadScript(history);
  std::fill(logits.begin(), logits.end(), 0.0f);
  const bool endless = script.ends_with('~');
  if (endless) script.pop_back();
  if (endless && said >= script.size()) said = script.size() - 1;
  if (said < script.size() && script[said] == '%') {
    logits[0] = std::numeric_limits<float>::quiet_NaN();
    return;
  }
  logits[static_cast<size_t>(said < script.size() ? ScriptToken(script[said]) : int32_t{kReturn})] = 1;
}

}  // namespace assay::engine
