#include "base/text.h"
#include "tokenizer/harmony.h"

namespace assay::tokenizer {
namespace {

// Whether text outside a message can still be the start of a header: "assistant", then " to=recipient".
bool MayBeHeader(std::string_view text) {
  constexpr std::string_view kRole = "assistant";
  constexpr std::string_view kRecipient = " to=";
  if (StartsWith(kRole, text)) return true;
  if (StartsWith(text, kRole)) text.remove_prefix(kRole.size());
  return StartsWith(kRecipient, text) || StartsWith(text, kRecipient);
}

bool HasRecipient(std::string_view header) {
  for (const std::string& word : Split(header, ' ')) {
    if (StartsWith(word, "to=")) return true;
  }
  return false;
}

}  // namespace

HarmonyParser::HarmonyParser(const Tokenizer& tokenizer, const HarmonyTokens& tokens)
    : tokenizer_(&tokenizer), tokens_(tokens), decoder_(tokenizer) {}

HarmonyParser::Delta HarmonyParser::Add(int32_t id) {
  Delta delta;
  if (!tokenizer_->IsSpecial(id)) {
    Text(decoder_.Add(id), &delta);
    return delta;
  }
  Text(decoder_.Finish(), &delta);
  if (id == tokens_.start || id == tokens_.channel) {
    if (id == tokens_.start || state_ == State::kBody) Close(&delta);
    OpenHeader(id);
  } else if (id == tokens_.message) {
    if (state_ == State::kBody) Close(&delta);
    OpenBody();
  } else if (id == tokens_.end || id == tokens_.return_ || id == tokens_.call || id == tokens_.end_of_text) {
    Close(&delta);
  } else if (id == tokens_.constrain && state_ == State::kHeader) {
    (in_channel_ ? channel_ : header_) += ' ';  // the content type that follows is a word of its own
  }
  return delta;
}

HarmonyParser::Delta HarmonyParser::Finish() {
  Delta delta;
  Text(decoder_.Finish(), &delta);
  Close(&delta);
  return delta;
}

void HarmonyParser::Text(std::string text, Delta* delta) {
  if (text.empty()) return;
  if (state_ == State::kHeader) {
    (in_channel_ ? channel_ : header_) += text;
    return;
  }
  if (state_ == State::kBetween) {
    header_ += text;
    if (MayBeHeader(header_)) return;
    text = std::move(header_);
    header_.clear();
    state_ = State::kBody;
    target_ = Target::kContent;
  }
  const Delta routed = Route(std::move(text));
  delta->reasoning += routed.reasoning;
  delta->content += routed.content;
}

HarmonyParser::Delta HarmonyParser::Route(std::string text) const {
  if (target_ == Target::kReasoning) return {std::move(text), ""};
  if (target_ == Target::kContent) return {"", std::move(text)};
  return {};
}

void HarmonyParser::OpenHeader(int32_t id) {
  state_ = State::kHeader;
  in_channel_ = id == tokens_.channel;
  channel_.clear();
}

void HarmonyParser::OpenBody() {
  const std::string channel = Split(Trim(channel_), ' ').front();
  const bool to_tool =
      (channel.empty() || channel == "commentary") && (HasRecipient(header_) || HasRecipient(channel_));
  target_ = channel == "analysis" ? Target::kReasoning : to_tool ? Target::kNowhere : Target::kContent;
  state_ = State::kBody;
  header_.clear();
  channel_.clear();
}

void HarmonyParser::Close(Delta* delta) {
  if (state_ == State::kBetween) delta->content += header_;  // it did not become a header
  state_ = State::kBetween;
  header_.clear();
  channel_.clear();
}

}  // namespace assay::tokenizer
