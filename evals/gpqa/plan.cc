#include <algorithm>

#include "evals/gpqa/gpqa.h"
#include "evals/gpqa/python_random.h"

namespace assay::evals {
namespace {

// The letter of the first shown choice with the right text: where two choices read alike, only the first of
// them scores, as in gpt-oss.
char ExpectedLetter(const Question& question, const std::array<int, 4>& permutation) {
  char letter = 'A';
  for (const int choice : permutation) {
    if (question.choices[static_cast<size_t>(choice)] == question.choices[0]) break;
    ++letter;
  }
  return letter;
}

}  // namespace

Result<std::vector<Shown>> PlanSamples(const std::vector<Question>& questions, std::optional<int64_t> subset,
                                       int repeats, uint64_t seed) {
  if (questions.empty()) return Fail(ErrorKind::kUsage, "the data set has no questions");
  if (repeats < 1) return Fail(ErrorKind::kUsage, "repeats must be at least 1, got {}", repeats);
  const auto available = static_cast<int64_t>(questions.size());
  if (subset && (*subset < 1 || *subset > available)) {
    return Fail(ErrorKind::kUsage, "asked for {} questions, the data set has {}: ask for 1 to {}", *subset,
                available, available);
  }

  PythonRandom random(seed);
  std::vector<size_t> order;
  if (subset) {
    order = random.Sample(questions.size(), static_cast<size_t>(*subset));
  } else {
    for (size_t i = 0; i < questions.size(); ++i) order.push_back(i);
  }

  std::vector<Shown> plan;
  plan.reserve(order.size() * static_cast<size_t>(repeats));
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const size_t question : order) {
      Shown shown{question, repeat, {}, 'A'};
      const std::vector<size_t> drawn = random.Sample(4, 4);
      std::transform(drawn.begin(), drawn.end(), shown.permutation.begin(),
                     [](size_t choice) { return static_cast<int>(choice); });
      shown.expected = ExpectedLetter(questions[question], shown.permutation);
      plan.push_back(shown);
    }
  }
  return plan;
}

std::vector<size_t> RandomOrder(size_t n, uint64_t seed) {
  return PythonRandom(seed).Sample(n, n);
}

}  // namespace assay::evals
