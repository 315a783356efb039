#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/server/stop_filter.h"
#include "tokenizer/harmony.h"
#include "tokenizer/tokenizer.h"

namespace assay::engine {

struct TextDelta {
  std::string reasoning;
  std::string content;
};

// Generated tokens to the text a client sees. Chat tokens are read as harmony, others as plain text in which
// special tokens are silent. Stop strings act on the content: reasoning is not part of the answer.
class TokenText {
 public:
  TokenText(const tokenizer::Tokenizer& tokenizer, const tokenizer::HarmonyTokens& tokens,
            std::vector<std::string> stops);                                         // chat
  TokenText(const tokenizer::Tokenizer& tokenizer, std::vector<std::string> stops);  // completions

  TextDelta Add(int32_t id);
  TextDelta Finish();
  bool Stopped() const { return stop_filter_.Stopped(); }

 private:
  std::variant<tokenizer::HarmonyParser, tokenizer::IncrementalDecoder> decoder_;
  StopFilter stop_filter_;
};

}  // namespace assay::engine
