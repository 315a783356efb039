#include "evals/gpqa/prompt.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/text.h"

namespace assay::evals {
namespace {

// Byte for byte what openai/gpt-oss asks.
constexpr char kGptOss[] =
    "{question}\n\n(A) {A}\n(B) {B}\n(C) {C}\n(D) {D}\n\n"
    "Express your final answer as the corresponding option 'A', 'B', 'C', or 'D'.";

// openai/simple-evals' user message.
constexpr char kSimpleEvals[] =
    "Answer the following multiple choice question. The last line of your response should be of the "
    "following "
    "format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step before "
    "answering.\n\n{question}\n\nA) {A}\nB) {B}\nC) {C}\nD) {D}";

// EleutherAI/lm-evaluation-harness, gpqa_*_cot_zeroshot; it ends in a blank.
constexpr char kLmEvalCot[] =
    "What is the correct answer to this question:{question}\nChoices:\n(A) {A}\n(B) {B}\n(C) {C}\n(D) {D}\n"
    "Let's think step by step: ";

const std::vector<std::string>& PlaceholderNames() {
  static const std::vector<std::string> names = {"question", "A", "B", "C", "D"};
  return names;
}

// Calls `text` for what stands between placeholders and `placeholder` for each name. False: a brace that is
// neither doubled nor part of a placeholder, at *at.
template <typename OnText, typename OnPlaceholder>
bool Walk(std::string_view prompt, size_t* at, OnText text, OnPlaceholder placeholder) {
  for (size_t i = 0; i < prompt.size(); ++i) {
    *at = i;
    const char c = prompt[i];
    if (c != '{' && c != '}') {
      text(prompt.substr(i, 1));
      continue;
    }
    if (prompt.substr(i + 1, 1) == prompt.substr(i, 1)) {
      text(prompt.substr(i++, 1));
      continue;
    }
    const size_t end = prompt.find_first_of("{}\n", i + 1);
    if (c == '}' || end == std::string_view::npos || prompt[end] != '}') return false;
    if (!placeholder(std::string(prompt.substr(i + 1, end - i - 1)))) return false;
    i = end;
  }
  return true;
}

Status CheckPlaceholders(const std::string& file, std::string_view prompt) {
  std::map<std::string, int> seen;
  std::string unknown;
  size_t at = 0;
  const bool well_formed = Walk(
      prompt, &at, [](std::string_view) {},
      [&](const std::string& name) {
        const auto& names = PlaceholderNames();
        if (std::find(names.begin(), names.end(), name) == names.end()) {
          unknown = name;
          return false;
        }
        ++seen[name];
        return true;
      });
  const auto line = 1 + std::count(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  if (!unknown.empty()) {
    const auto nearest = NearestWord(unknown, PlaceholderNames());
    return Fail(ErrorKind::kUsage,
                "{}:{}: {{{}}} is no placeholder{}; there are {{question}} {{A}} {{B}} {{C}} {{D}}", file,
                line, unknown, nearest ? "; did you mean {" + *nearest + "}?" : "");
  }
  if (!well_formed) {
    return Fail(ErrorKind::kUsage, "{}:{}: a brace outside a placeholder; write {{{{ or }}}} for one", file,
                line);
  }
  for (const std::string& name : PlaceholderNames()) {
    if (seen[name] > 0) continue;
    return Fail(ErrorKind::kUsage, "{}: has no {{{}}}: a question without it cannot be answered", file, name);
  }
  return {};
}

}  // namespace

const std::vector<PromptTemplate>& KnownPrompts() {
  static const std::vector<PromptTemplate> known = {
      {"gpt-oss", kGptOss}, {"simple-evals", kSimpleEvals}, {"lm-eval-cot", kLmEvalCot}};
  return known;
}

bool IsKnownPrompt(const std::string& name) {
  const auto& known = KnownPrompts();
  return std::any_of(known.begin(), known.end(),
                     [&](const PromptTemplate& prompt) { return prompt.name == name; });
}

Result<PromptTemplate> LoadPrompt(const std::string& name_or_file) {
  for (const PromptTemplate& prompt : KnownPrompts()) {
    if (prompt.name == name_or_file) return prompt;
  }
  const Path file = name_or_file;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Fail(ErrorKind::kUsage, "prompt {}: no such file, and none of gpt-oss, simple-evals, lm-eval-cot",
                name_or_file);
  }
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
  if (!IsValidUtf8(bytes) || bytes.find('\0') != std::string::npos) {
    return Fail(ErrorKind::kUsage, "{}: is not UTF-8 text", name_or_file);
  }
  const std::string text(Trim(bytes));
  RETURN_IF_ERROR(CheckPlaceholders(name_or_file, text));
  return PromptTemplate{fmt::format("{} sha256:{}", file.filename().string(), Sha256(text).substr(0, 12)),
                        text};
}

std::string Render(const PromptTemplate& prompt, const Question& question,
                   const std::array<int, 4>& permutation) {
  std::string message;
  size_t at = 0;
  Walk(
      prompt.text, &at, [&](std::string_view text) { message += text; },
      [&](const std::string& name) {
        message +=
            name == "question"
                ? question.text
                : question.choices[static_cast<size_t>(permutation[static_cast<size_t>(name[0] - 'A')])];
        return true;
      });
  return message;
}

}  // namespace assay::evals
