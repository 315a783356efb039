#include "engine/server/token_text.h"

#include <utility>

namespace assay::engine {

using tokenizer::HarmonyParser;
using tokenizer::IncrementalDecoder;

TokenText::TokenText(const tokenizer::Tokenizer& tokenizer, const tokenizer::HarmonyTokens& tokens,
                     std::vector<std::string> stops)
    : decoder_(HarmonyParser(tokenizer, tokens)), stop_filter_(std::move(stops)) {}

TokenText::TokenText(const tokenizer::Tokenizer& tokenizer, std::vector<std::string> stops)
    : decoder_(IncrementalDecoder(tokenizer, true)), stop_filter_(std::move(stops)) {}

TextDelta TokenText::Add(int32_t id) {
  if (auto* harmony = std::get_if<HarmonyParser>(&decoder_)) {
    HarmonyParser::Delta delta = harmony->Add(id);
    return {std::move(delta.reasoning), stop_filter_.Add(delta.content)};
  }
  return {"", stop_filter_.Add(std::get<IncrementalDecoder>(decoder_).Add(id))};
}

TextDelta TokenText::Finish() {
  TextDelta rest;
  if (auto* harmony = std::get_if<HarmonyParser>(&decoder_)) {
    HarmonyParser::Delta delta = harmony->Finish();
    rest = {std::move(delta.reasoning), std::move(delta.content)};
  } else {
    rest.content = std::get<IncrementalDecoder>(decoder_).Finish();
  }
  rest.content = stop_filter_.Add(rest.content);
  if (!stop_filter_.Stopped()) rest.content += stop_filter_.Finish();
  return rest;
}

}  // namespace assay::engine
