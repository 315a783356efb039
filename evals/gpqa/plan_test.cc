#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  EXPECT_THAT((std::vector<size_t>{(*plan)[0].question, (*plan)[1].question, (*plan)[4].question}),
              ElementsAre(98, 194, 66));
  EXPECT_EQ(Digits((*plan)[0]), "3120");
  EXPECT_EQ(Digits((*plan)[4]), "2103");
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

TEST(GptOssPrompt, InsertsValuesAsTheyAre) {
  const Question question{"rec1", "Which {rate}?", {" 1 [s]\n", "2", "{}", "4"}, "", ""};
  EXPECT_EQ(GptOssPrompt(question, {3, 1, 0, 2}),
            "Which {rate}?\n\n(A) 4\n(B) 2\n(C)  1 [s]\n\n(D) {}\n\n"
            "Express your final answer as the corresponding option 'A', 'B', 'C', or 'D'.");
}

}  // namespace
}  // namespace assay::evals
