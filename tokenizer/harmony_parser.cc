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

// "functions.x" of " to=functions.x json", or "".
std::string RecipientIn(std::string_view header) {
  constexpr std::string_view kTo = "to=";
  for (const std::string& word : Split(header, ' ')) {
    if (StartsWith(word, kTo)) return word.substr(kTo.size());
  }
  return "";
}

}  // namespace

HarmonyParser::HarmonyParser(const Tokenizer& tokenizer, const HarmonyTokens& tokens, bool functions_offered)
    : tokenizer_(&tokenizer), tokens_(tokens), functions_offered_(functions_offered), decoder_(tokenizer) {}

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
    OpenBody(&delta);
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
  Route(std::move(text), delta);
}

void HarmonyParser::Route(std::string text, Delta* delta) const {
  if (target_ == Target::kReasoning) delta->reasoning += text;
  if (target_ == Target::kContent) delta->content += text;
  if (target_ == Target::kCall) delta->calls.push_back({calls_ - 1, "", std::move(text)});
}

void HarmonyParser::OpenHeader(int32_t id) {
  state_ = State::kHeader;
  in_channel_ = id == tokens_.channel;
  channel_.clear();
}

void HarmonyParser::OpenBody(Delta* delta) {
  constexpr std::string_view kFunctions = "functions.";
  const std::string channel = Split(Trim(channel_), ' ').front();
  std::string recipient = RecipientIn(header_);
  if (recipient.empty()) recipient = RecipientIn(channel_);
  const bool function = functions_offered_ && channel != "final" && recipient.size() > kFunctions.size() &&
                        StartsWith(recipient, kFunctions);
  if (function) {
    target_ = Target::kCall;
    delta->calls.push_back({calls_++, recipient.substr(kFunctions.size()), ""});
  } else if (channel == "analysis") {
    target_ = Target::kReasoning;
  } else {
    const bool to_tool = (channel.empty() || channel == "commentary") && !recipient.empty();
    target_ = to_tool ? Target::kNowhere : Target::kContent;
  }
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
