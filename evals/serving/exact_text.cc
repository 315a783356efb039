#include "evals/serving/exact_text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace assay::evals {
namespace {

constexpr std::array<std::string_view, 96> kWords = {
    "time",   "year",  "people", "way",   "day",  "man",   "thing", "world",   "life",   "hand",   "part",
    "child",  "eye",   "place",  "work",  "week", "case",  "point", "company", "number", "group",  "problem",
    "fact",   "be",    "have",   "do",    "say",  "get",   "make",  "go",      "know",   "take",   "see",
    "come",   "think", "look",   "want",  "give", "use",   "find",  "tell",    "ask",    "seem",   "feel",
    "try",    "leave", "call",   "good",  "new",  "first", "last",  "long",    "great",  "little", "own",
    "other",  "old",   "right",  "big",   "high", "small", "large", "next",    "early",  "young",  "few",
    "public", "bad",   "same",   "able",  "to",   "of",    "in",    "for",     "on",     "with",   "at",
    "by",     "from",  "up",     "about", "into", "over",  "after", "the",     "and",    "that",   "it",
    "not",    "he",    "as",     "you",   "this", "but",   "his",   "they"};
constexpr int kTries = 32;
constexpr size_t kFewestIds = 16;

// So many words, each with a blank before it: most tokenizers have that as one token.
std::string Words(SplitMix64& random, int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    text += ' ';
    text += kWords[random.Below(kWords.size())];
  }
  return text;
}

void DropWords(std::string& text, int64_t count) {
  for (; count > 0 && !text.empty(); --count) {
    const size_t blank = text.rfind(' ');
    text.resize(blank == std::string::npos ? 0 : blank);
  }
}

}  // namespace

// Words are added or taken away by what is missing; the last few are letters, which no tokenizer splits.
Result<std::string> ExactText(SplitMix64& random, int64_t tokens, const Encoder& encode) {
  std::string text = Words(random, tokens);
  int64_t count = 0;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    ASSIGN_OR_RETURN(const auto ids, encode(text));
    count = static_cast<int64_t>(ids.size());
    if (count == tokens) return text;
    const int64_t words = std::count(text.begin(), text.end(), ' ');
    const int64_t tokens_a_word = words == 0 ? 1 : std::max<int64_t>(1, count / words);
    if (count > tokens) {
      DropWords(text, std::max<int64_t>(1, (count - tokens) / tokens_a_word));
    } else if (tokens - count > 8 * tokens_a_word) {
      text += Words(random, (tokens - count) / tokens_a_word - 4);
    } else {
      for (int64_t i = 0; i < tokens - count; ++i) text += attempt % 2 == 0 ? " a" : "\n";
    }
  }
  return Fail(
      ErrorKind::kInfrastructure,
      "no text of exactly {} tokens found: after {} tries one of {}; token-id prompts (the completions "
      "API) have any length",
      tokens, kTries, count);
}

Result<std::vector<int32_t>> OrdinaryIds(const Encoder& encode) {
  std::string text;
  for (const std::string_view word : kWords) text += " " + std::string(word);
  ASSIGN_OR_RETURN(std::vector<int32_t> ids, encode(text));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.size() < kFewestIds) {
    return Fail(ErrorKind::kInfrastructure,
                "{} words are only {} different tokens to this tokenizer, too few for random prompts",
                kWords.size(), ids.size());
  }
  return ids;
}

}  // namespace assay::evals
