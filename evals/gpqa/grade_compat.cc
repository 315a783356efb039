#include <array>
#include <vector>

#include "base/text.h"
#include "evals/gpqa/gpqa.h"
#include "evals/gpqa/pattern.h"

namespace assay::evals {
namespace {

// What Python's \s takes in a str; PCRE2's \s differs in U+001C..1F and U+180E.
constexpr char kPythonBlank[] =
    R"([\x09-\x0d\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}])";

// The rules of openai/gpt-oss, first to last; the first rule with a hit decides, by its first hit. They are
// kept as they behave, faults included: rule 12 takes any line that begins with a capital A to D. Here a
// blank stands for any number of Python's blanks, `~` for one run of markdown emphasis, `L` for the letter.
constexpr std::array kRules = {
    R"((?i)~answers? [:\-–]?~ L\b)",
    R"((?im)^ ~?answer:?~? :? ~?L)",
    R"((?i)\banswers?\b [:\-–]? \( L \))",
    R"((?i)\banswers?\b [:\-–]? L\b)",
    R"((?i)\b(?:option|choice)\b [:\-–]? L\b)",
    R"(\\boxed\{[^}]*?L[^}]*\})",
    R"(\\boxed\{[^}]*?\\textbf\{[^}]*?L[^}]*\}[^}]*\})",
    R"(\\boxed\{[^}]*?\\text\{[^}]*?L[^}]*\}[^}]*\})",
    R"((?<![A-Za-z0-9])[(\[] L [)\]](?![A-Za-z0-9]))",
    R"((?<![A-Za-z0-9])~L~(?![A-Za-z0-9]))",
    R"(\\textbf\{[^}]*?L[^}]*\})",
    R"((?<![A-Za-z0-9])~ L\)[^*_\n]+?~(?![A-Za-z0-9]))",
    R"((?m)^ ~?L)",
};

std::vector<Pattern> CompileRules() {
  std::vector<Pattern> rules;
  for (const std::string_view rule : kRules) {
    std::string regex = ReplaceAll(std::string(rule), " ", std::string(kPythonBlank) + "*");
    regex = ReplaceAll(std::move(regex), "~", R"((?:\*{1,2}|_{1,2}))");
    rules.emplace_back(ReplaceAll(std::move(regex), "L", "(?<letter>[ABCD])"));
  }
  return rules;
}

std::string FirstCharacter(std::string_view text) {
  size_t length = text.empty() ? 0 : 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) ++length;
  return std::string(text.substr(0, length));
}

}  // namespace

std::string GradeCompat(std::string_view response) {
  static const std::vector<Pattern> rules = CompileRules();
  for (const Pattern& rule : rules) {
    if (const auto hit = rule.First(response)) return {static_cast<char>(hit->letter[0] & ~0x20)};
  }
  if (StartsWith(response, "**")) response.remove_prefix(2);
  return FirstCharacter(response);
}

}  // namespace assay::evals
