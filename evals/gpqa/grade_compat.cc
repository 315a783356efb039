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
struct Rule {
  std::string_view name;  // its place in gpt-oss's list, and what it looks for
  std::string_view regex;
};

// (*SKIP)(*F): what fails from one brace to the next closing one fails from any later brace before that too.
constexpr std::array kRules = {
    Rule{"0 emphasised answer", R"((?i)~answers? [:\-–]?~ L\b)"},
    Rule{"1 answer at a line start", R"((?im)^ ~?answer:?~? :? ~?L)"},
    Rule{"2 answer, bracketed letter", R"((?i)\banswers?\b [:\-–]? \( L \))"},
    Rule{"3 answer, bare letter", R"((?i)\banswers?\b [:\-–]? L\b)"},
    Rule{"4 option or choice", R"((?i)\b(?:option|choice)\b [:\-–]? L\b)"},
    Rule{"5 boxed", R"(\\boxed\{(?:[^}]*?L[^}]*\}|[^}]*(*SKIP)(*F)))"},
    Rule{"6 boxed textbf", R"(\\boxed\{(?:[^}]*?\\textbf\{[^}]*?L[^}]*\}[^}]*\}|[^}]*(*SKIP)(*F)))"},
    Rule{"7 boxed text", R"(\\boxed\{(?:[^}]*?\\text\{[^}]*?L[^}]*\}[^}]*\}|[^}]*(*SKIP)(*F)))"},
    Rule{"8 bracketed letter", R"((?<![A-Za-z0-9])[(\[] L [)\]](?![A-Za-z0-9]))"},
    Rule{"9 emphasised letter", R"((?<![A-Za-z0-9])~L~(?![A-Za-z0-9]))"},
    Rule{"10 textbf", R"(\\textbf\{(?:[^}]*?L[^}]*\}|[^}]*(*SKIP)(*F)))"},
    Rule{"11 emphasised letter and text", R"((?<![A-Za-z0-9])~ L\)[^*_\n]+?~(?![A-Za-z0-9]))"},
    Rule{"12 line starts with the letter", R"((?m)^ ~?L)"},
};
constexpr std::string_view kFallback = "first character";

std::vector<Pattern> CompileRules() {
  std::vector<Pattern> rules;
  for (const Rule& rule : kRules) {
    std::string regex = ReplaceAll(std::string(rule.regex), " ", std::string(kPythonBlank) + "*");
    regex = ReplaceAll(std::move(regex), "~", R"((?:\*{1,2}|_{1,2}))");
    rules.emplace_back(ReplaceAll(std::move(regex), "L", "(?<letter>[ABCD])"));
  }
  return rules;
}

const std::vector<Pattern>& Rules() {
  static const std::vector<Pattern> rules = CompileRules();
  return rules;
}

std::string FirstCharacter(std::string_view text) {
  size_t length = text.empty() ? 0 : 1;
  while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) ++length;
  return std::string(text.substr(0, length));
}

}  // namespace

Grade GradeCompat(std::string_view response) {
  for (size_t i = 0; i < kRules.size(); ++i) {
    const auto hit = Rules()[i].First(response);
    if (hit) return {std::string(1, static_cast<char>(hit->letter[0] & ~0x20)), kRules[i].name};
  }
  if (StartsWith(response, "**")) response.remove_prefix(2);
  std::string character = FirstCharacter(response);
  const bool nothing = character.empty();
  return {std::move(character), nothing ? "" : kFallback};
}

std::vector<int> CompatHits(std::string_view response) {
  std::vector<int> hits;
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (Rules()[i].First(response)) hits.push_back(static_cast<int>(i));
  }
  return hits;
}

}  // namespace assay::evals
