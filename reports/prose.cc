#include "reports/prose.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "base/text.h"
#include "reports/chinese.h"

namespace assay::reports {
namespace {

// The words of a pattern around its values: n values stand between n + 1 texts.
std::vector<std::string_view> Literals(std::string_view pattern) {
  std::vector<std::string_view> literals;
  for (;;) {
    const size_t open = pattern.find('{');
    literals.push_back(pattern.substr(0, open));
    if (open == std::string_view::npos) return literals;
    pattern.remove_prefix(pattern.find('}', open) + 1);
  }
}

// Shortest values first; a later word that does not fit makes an earlier value longer.
bool MatchFrom(const std::vector<std::string_view>& literals, size_t next, std::string_view text,
               std::vector<std::string>& values) {
  if (next == literals.size()) return text.empty();
  const std::string_view literal = literals[next];
  const bool last = next + 1 == literals.size();
  if (last && literal.empty()) {
    if (text.empty()) return false;
    values.emplace_back(text);
    return true;
  }
  for (size_t at = text.find(literal, 1); at != std::string_view::npos; at = text.find(literal, at + 1)) {
    values.emplace_back(text.substr(0, at));
    if (MatchFrom(literals, next + 1, text.substr(at + literal.size()), values)) return true;
    values.pop_back();
  }
  return false;
}

std::optional<std::vector<std::string>> ValuesBetween(const std::vector<std::string_view>& literals,
                                                      std::string_view text) {
  if (!StartsWith(text, literals.front()) || !text.ends_with(literals.back())) return std::nullopt;
  std::vector<std::string> values;
  if (literals.size() == 1) return text == literals.front() ? std::optional(values) : std::nullopt;
  if (!MatchFrom(literals, 1, text.substr(literals.front().size()), values)) return std::nullopt;
  return values;
}

std::string Fill(std::string_view pattern, const std::vector<std::string>& values) {
  std::string text;
  size_t next = 0;
  for (;;) {
    const size_t open = pattern.find('{');
    text += pattern.substr(0, open);
    if (open == std::string_view::npos) return text;
    const size_t close = pattern.find('}', open);
    size_t index = next++;
    std::from_chars(pattern.data() + open + 1, pattern.data() + close, index);
    if (index < values.size()) text += values[index];
    pattern.remove_prefix(close + 1);
  }
}

struct Row {
  const Phrase* phrase;
  std::vector<std::string_view> literals;
  size_t words;  // characters outside of values: the more, the surer
  bool part;     // an item of a list: its first value would take all items before it
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> sorted;
    for (const Phrase& phrase : ChineseVerdicts()) {
      constexpr size_t kSentence = 25;
      const std::vector<std::string_view> literals = Literals(phrase.english);
      size_t words = 0;
      for (std::string_view literal : literals) words += literal.size();
      const bool part = literals.front().empty() && words < kSentence &&
                        phrase.english.find(", ") == std::string_view::npos;
      sorted.push_back({&phrase, literals, words, part});
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Row& a, const Row& b) { return a.words > b.words; });
    return sorted;
  }();
  return rows;
}

// What follows a semicolon is a clause of its own, unless the phrase has room for several.
bool HoldsOtherClauses(const Phrase& phrase, const std::vector<std::string>& values) {
  if (phrase.english.find("; ") != std::string_view::npos ||
      phrase.english.find('(') != std::string_view::npos)
    return false;
  return std::any_of(values.begin(), values.end(),
                     [](const std::string& value) { return value.find("; ") != std::string::npos; });
}

// What was translated so far: parts of parts come again and again.
using Known = std::map<std::string, std::string, std::less<>>;
std::string Translated(std::string_view english, Known& known);

std::optional<std::string> Whole(std::string_view english, bool parts, Known& known) {
  for (const Row& row : Rows()) {
    if (row.part != parts) continue;
    if (auto values = ValuesBetween(row.literals, english)) {
      if (HoldsOtherClauses(*row.phrase, *values)) continue;
      for (std::string& value : *values) value = Translated(value, known);
      return Fill(row.phrase->chinese, *values);
    }
  }
  return std::nullopt;
}

// "a; b" as "a；b" when either half has a phrase.
std::optional<std::string> InParts(std::string_view english, std::string_view separator,
                                   std::string_view chinese, Known& known) {
  const size_t at = english.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view left = english.substr(0, at), right = english.substr(at + separator.size());
  const std::string ours = Translated(left, known), theirs = Translated(right, known);
  if (ours == left && theirs == right) return std::nullopt;
  return ours + std::string(chinese) + theirs;
}

std::string Searched(std::string_view english, Known& known) {
  if (auto whole = Whole(english, false, known)) return *whole;
  if (auto parts = InParts(english, "; ", "；", known)) return *parts;
  if (auto parts = InParts(english, ", ", "，", known)) return *parts;
  if (auto whole = Whole(english, true, known)) return *whole;
  if (auto parts = InParts(english, ": ", "：", known)) return *parts;
  return std::string(english);
}

std::string Translated(std::string_view english, Known& known) {
  if (const auto found = known.find(english); found != known.end()) return found->second;
  std::string chinese = Searched(english, known);
  known.emplace(english, chinese);
  return chinese;
}

}  // namespace

std::optional<std::vector<std::string>> ValuesOf(std::string_view pattern, std::string_view text) {
  return ValuesBetween(Literals(pattern), text);
}

std::string ChineseProse(std::string_view english) {
  constexpr size_t kSentence = 1000;  // what is longer is no sentence of ours
  if (english.size() > kSentence) return std::string(english);
  Known known;
  return Translated(english, known);
}

}  // namespace assay::reports
