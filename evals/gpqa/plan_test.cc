#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "evals/gpqa/gpqa.h"

namespace assay::evals {
namespace {

using ::testing::ElementsAre;

std::vector<Question> NumberedQuestions(size_t n) {
  std::vector<Question> questions;
  for (size_t i = 0; i < n; ++i) {
    questions.push_back({"rec" + std::to_string(i), "question", {"right", "w1", "w2", "w3"}, "Physics", ""});
  }
  return questions;
}

std::string Digits(const Shown& shown) {
  std::string digits;
  for (const int choice : shown.permutation) digits += static_cast<char>('0' + choice);
  return digits;
}

std::string Letters(const std::vector<Shown>& plan) {
  std::string letters;
  for (const Shown& shown : plan) letters += shown.expected;
  return letters;
}

// The golden values were computed with openai/gpt-oss's own code on CPython 3.11: 198 rows, 8 repeats.
TEST(PlanSamples, ShowsGpqaDiamondAsGptOssDoes) {
  const auto plan = PlanSamples(NumberedQuestions(198), std::nullopt, 8, 0);
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->size(), 1584u);
  std::vector<std::string> first;
  for (size_t i = 0; i < 12; ++i) first.push_back(Digits((*plan)[i]));
  EXPECT_THAT(first, ElementsAre("3102", "3120", "2301", "2031", "1302", "2103", "3102", "3210", "0312",
                                 "3102", "0321", "1230"));
  EXPECT_EQ(Digits((*plan)[197]), "2310");
  EXPECT_EQ(Digits((*plan)[198]), "2103");
  EXPECT_EQ(Digits((*plan)[1583]), "3021");
  EXPECT_EQ((*plan)[198].question, 0u);
  EXPECT_EQ((*plan)[198].repeat, 1);

  const std::string letters = Letters(*plan);
  EXPECT_EQ(letters.substr(0, 60), "CDCBCCCDACADADCBCBAABDCBBDAAAACCCACBDCBAADAADCDABDDCDABADAAC");
  EXPECT_EQ(letters.substr(1564), "ACBBDDAAADDCCBBAAADB");
  EXPECT_EQ(Sha256(letters), "2a2cc6595fc20e946e7a3356a0ac368cc0ba6580342e8e9ac40b584c1bb764d0");
}

TEST(PlanSamples, SpreadsTheRightLettersAsGptOssDoes) {
  const auto plan = PlanSamples(NumberedQuestions(198), std::nullopt, 8, 0);
  ASSERT_TRUE(plan.has_value());
  const std::string letters = Letters(*plan);
  const auto counts = [](const std::string& text) {
    std::vector<std::ptrdiff_t> each;
    for (const char letter : {'A', 'B', 'C', 'D'})
      each.push_back(std::count(text.begin(), text.end(), letter));
    return each;
  };
  EXPECT_THAT(counts(letters.substr(0, 198)), ElementsAre(56, 47, 47, 48));
  EXPECT_THAT(counts(letters), ElementsAre(414, 379, 418, 373));
}

// InferenceX seeds with 3407 and asks twice.
TEST(PlanSamples, TakesAnotherSeed) {
  const auto plan = PlanSamples(NumberedQuestions(198), std::nullopt, 2, 3407);
  ASSERT_TRUE(plan.has_value());
  std::vector<std::string> first;
  for (size_t i = 0; i < 6; ++i) first.push_back(Digits((*plan)[i]));
  EXPECT_THAT(first, ElementsAre("0132", "1320", "1320", "2031", "1302", "1302"));
}

TEST(PlanSamples, DrawsTheSubsetBeforeThePermutations) {
  const auto plan = PlanSamples(NumberedQuestions(198), 10, 1, 0);
  ASSERT_TRUE(plan.has_value());
  std::vector<size_t> questions;
  std::vector<std::string> permutations;
  for (const Shown& shown : *plan) {
    questions.push_back(shown.question);
    permutations.push_back(Digits(shown));
  }
  EXPECT_THAT(questions, ElementsAre(98, 194, 107, 10, 66, 130, 124, 103, 77, 122));
  EXPECT_THAT(permutations,
              ElementsAre("2301", "2031", "1302", "2103", "3102", "3210", "0312", "3102", "0321", "1230"));
}

TEST(PlanSamples, DrawsFiveOf198) {
  const auto plan = PlanSamples(NumberedQuestions(198), 5, 1, 0);
  ASSERT_TRUE(plan.has_value());
  std::vector<size_t> questions;
  std::vector<std::string> permutations;
  for (const Shown& shown : *plan) {
    questions.push_back(shown.question);
    permutations.push_back(Digits(shown));
  }
  EXPECT_THAT(questions, ElementsAre(98, 194, 107, 10, 66));
  EXPECT_THAT(permutations, ElementsAre("3120", "2301", "2031", "1302", "2103"));
}

TEST(PlanSamples, RepeatsTheWholeListWithFreshPermutations) {
  const auto plan = PlanSamples(NumberedQuestions(198), 10, 3, 0);
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->size(), 30u);
  EXPECT_EQ((*plan)[10].question, (*plan)[0].question);
  EXPECT_EQ((*plan)[10].repeat, 1);
  EXPECT_EQ((*plan)[29].repeat, 2);
}

TEST(PlanSamples, ExpectsTheFirstOfTwoEqualChoices) {
  std::vector<Question> questions = NumberedQuestions(1);
  questions[0].choices[3] = "right";
  const auto plan = PlanSamples(questions, std::nullopt, 1, 0);  // shown in the order 3102
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ((*plan)[0].expected, 'A');
}

TEST(PlanSamples, RefusesMoreQuestionsThanThereAre) {
  const auto plan = PlanSamples(NumberedQuestions(3), 4, 1, 0);
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().message, "asked for 4 questions, the data set has 3: ask for 1 to 3");
}

// Python: random.Random(0).sample(range(12), 12)
TEST(RandomOrder, IsPythonsSampleOfAll) {
  EXPECT_THAT(RandomOrder(12, 0), ElementsAre(6, 11, 0, 4, 7, 3, 2, 10, 5, 8, 9, 1));
}

}  // namespace
}  // namespace assay::evals
