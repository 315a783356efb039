#include <fmt/format.h>

#include "evals/gpqa/gpqa.h"

namespace assay::evals {

// Byte for byte what openai/gpt-oss asks; the values go in raw, blanks and brackets kept.
std::string GptOssPrompt(const Question& question, const std::array<int, 4>& permutation) {
  const auto choice = [&](size_t shown) -> const std::string& {
    return question.choices[static_cast<size_t>(permutation[shown])];
  };
  return fmt::format(
      "{}\n\n(A) {}\n(B) {}\n(C) {}\n(D) {}\n\n"
      "Express your final answer as the corresponding option 'A', 'B', 'C', or 'D'.",
      question.text, choice(0), choice(1), choice(2), choice(3));
}

}  // namespace assay::evals
