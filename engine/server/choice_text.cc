#include "engine/server/choice_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/scheduler/philox.h"
#include "tokenizer/utf8.h"

namespace assay::engine {
namespace {

using tokenizer::HarmonyParser;
using tokenizer::IncrementalDecoder;

bool StartsCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

}  // namespace

void TextDelta::Append(TextDelta more) {
  reasoning += more.reasoning;
  content += more.content;
  for (wire::ToolCallDelta& call : more.calls) {
    const bool continues = !calls.empty() && call.id.empty() && calls.back().index == call.index;
    if (continues) {
      calls.back().arguments += call.arguments;
    } else {
      calls.push_back(std::move(call));
    }
  }
  std::move(more.logprobs.begin(), more.logprobs.end(), std::back_inserter(logprobs));
}

ChoiceText::ChoiceText(const tokenizer::Tokenizer& tokenizer, const tokenizer::HarmonyTokens& tokens,
                       TextRules rules)
    : tokenizer_(tokenizer),
      rules_(std::move(rules)),
      decoder_(HarmonyParser(tokenizer, tokens, rules_.functions_offered)),
      stop_filter_(rules_.stops, rules_.keep_stop) {}

ChoiceText::ChoiceText(const tokenizer::Tokenizer& tokenizer, TextRules rules)
    : tokenizer_(tokenizer),
      rules_(std::move(rules)),
      decoder_(IncrementalDecoder(tokenizer, rules_.skip_specials)),
      stop_filter_(rules_.stops, rules_.keep_stop) {}

TextDelta ChoiceText::Add(const GeneratedToken& token) {
  TextDelta delta;
  if (token.id >= 0) {
    ++tokens_;
    const bool shown = token.finish != FinishReason::kStop || rules_.keep_stop;
    if (shown) delta = Decode(token.id);
    if (rules_.logprobs) delta.logprobs.push_back(Logprobs(token));
  }
  if (token.finish != FinishReason::kNone && !Stopped()) delta.Append(Finish());
  if (!before_.empty()) delta.content.insert(0, std::exchange(before_, ""));
  return delta;
}

TextDelta ChoiceText::Decode(int32_t id) {
  if (auto* harmony = std::get_if<HarmonyParser>(&decoder_)) {
    TextDelta delta = FromHarmony(harmony->Add(id));
    if (harmony->InReasoning() && !tokenizer_.IsSpecial(id)) ++reasoning_tokens_;
    return delta;
  }
  TextDelta delta;
  delta.content = Stop(std::get<IncrementalDecoder>(decoder_).Add(id));
  return delta;
}

TextDelta ChoiceText::Finish() {
  TextDelta rest;
  if (auto* harmony = std::get_if<HarmonyParser>(&decoder_)) {
    rest = FromHarmony(harmony->Finish());
  } else {
    rest.content = Stop(std::get<IncrementalDecoder>(decoder_).Finish());
  }
  if (!Stopped()) rest.content += stop_filter_.Finish();
  return rest;
}

TextDelta ChoiceText::FromHarmony(HarmonyParser::Delta delta) {
  TextDelta out;
  if (rules_.keep_reasoning) out.reasoning = std::move(delta.reasoning);
  out.content = Stop(std::move(delta.content));
  for (HarmonyParser::Call& call : delta.calls) {
    wire::ToolCallDelta piece{call.index, "", std::move(call.name), std::move(call.arguments)};
    if (!piece.name.empty()) {
      ++calls_;
      piece.id =
          fmt::format("call_{:016x}", DerivedSeed(rules_.call_id_seed, static_cast<uint64_t>(call.index)));
    }
    out.calls.push_back(std::move(piece));
  }
  return out;
}

// The text as far as stop strings let it through.
std::string ChoiceText::Stop(std::string text) {
  return tokens_ > rules_.min_tokens ? stop_filter_.Add(text) : stop_filter_.Pass(std::move(text));
}

wire::PositionLogprobs ChoiceText::Logprobs(const GeneratedToken& token) {
  wire::PositionLogprobs position;
  position.token = Named(token.id, token.logprob);
  for (const TokenLogprob& other : token.top_logprobs) position.top.push_back(Named(other.id, other.logprob));
  position.text_offset = characters_;
  const std::string& bytes = position.token.bytes;
  characters_ += std::count_if(bytes.begin(), bytes.end(), StartsCharacter);
  return position;
}

wire::TokenLogprob ChoiceText::Named(int32_t id, float logprob) const {
  std::string bytes = tokenizer_.Decode({&id, 1});
  std::string text = tokenizer::RepairUtf8(bytes);
  return {std::move(text), std::move(bytes), static_cast<double>(logprob)};
}

}  // namespace assay::engine
