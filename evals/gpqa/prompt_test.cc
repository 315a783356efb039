#include "evals/gpqa/prompt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "testing/temp_dir.h"

namespace assay::evals {
namespace {

using ::testing::HasSubstr;

// Shown in the order 4, 2, 1, 3 of the base order.
const Question kQuestion{"rec1", "Which {rate}?", {" 1 [s]\n", "2", "{A}", "cyclopenta[c]pyridine"}, "", ""};
constexpr std::array<int, 4> kOrder = {3, 1, 0, 2};

std::string Rendered(const std::string& name) {
  const auto prompt = LoadPrompt(name);
  EXPECT_TRUE(prompt) << prompt.error().message;
  return prompt ? Render(*prompt, kQuestion, kOrder) : "";
}

TEST(Prompt, IsGptOssToTheByte) {
  EXPECT_EQ(Rendered("gpt-oss"),
            "Which {rate}?\n\n(A) cyclopenta[c]pyridine\n(B) 2\n(C)  1 [s]\n\n(D) {A}\n\n"
            "Express your final answer as the corresponding option 'A', 'B', 'C', or 'D'.");
}

TEST(Prompt, IsSimpleEvalsToTheByte) {
  EXPECT_EQ(
      Rendered("simple-evals"),
      "Answer the following multiple choice question. The last line of your response should be of the "
      "following format: 'Answer: $LETTER' (without quotes) where LETTER is one of ABCD. Think step by step "
      "before answering.\n\nWhich {rate}?\n\nA) cyclopenta[c]pyridine\nB) 2\nC)  1 [s]\n\nD) {A}");
}

TEST(Prompt, IsTheHarnessesCotToTheByte) {
  EXPECT_EQ(Rendered("lm-eval-cot"),
            "What is the correct answer to this question:Which {rate}?\nChoices:\n(A) cyclopenta[c]pyridine\n"
            "(B) 2\n(C)  1 [s]\n\n(D) {A}\nLet's think step by step: ");
}

class PromptFile : public ::testing::Test {
 protected:
  std::string File(const std::string& content) {
    EXPECT_TRUE(WriteFileAtomic(folder_ / "mine.txt", content));
    return (folder_ / "mine.txt").string();
  }
  std::string ErrorOf(const std::string& content) {
    const auto prompt = LoadPrompt(File(content));
    return prompt ? "no error" : prompt.error().message;
  }
  assay::testing::TempDir folder_;
};

TEST_F(PromptFile, HasNamedPlaceholdersAndDoubledBraces) {
  EXPECT_EQ(Rendered(File("\n{question} \\text{{x}} D={D} {A}{B}{C}\n\n")),
            "Which {rate}? \\text{x} D={A} cyclopenta[c]pyridine2 1 [s]\n");
  const auto prompt = LoadPrompt(File("{question} {A} {B} {C} {D}\n"));
  ASSERT_TRUE(prompt);
  EXPECT_EQ(prompt->name, "mine.txt sha256:" + Sha256("{question} {A} {B} {C} {D}").substr(0, 12))
      << "a record says which text it was";
}

TEST_F(PromptFile, MistakesAreToldWithTheirLine) {
  EXPECT_THAT(ErrorOf("{question}\n{A} {B} {C} {E}"), HasSubstr("mine.txt:2: {E} is no placeholder"));
  EXPECT_THAT(ErrorOf("{quesiton}"), HasSubstr("did you mean {question}?"));
  EXPECT_THAT(ErrorOf("{question} {A} {B} {C}"), HasSubstr("has no {D}"));
  EXPECT_THAT(ErrorOf("{question} {A} {B} {C} {D}\n}"), HasSubstr("mine.txt:2: a brace outside"));
  EXPECT_THAT(ErrorOf("{question"), HasSubstr("mine.txt:1: a brace outside"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("has no {question}"));
  EXPECT_THAT(ErrorOf(std::string("{question}\0", 11)), HasSubstr("is not UTF-8 text"));
  EXPECT_THAT(LoadPrompt("gptoss").error().message, HasSubstr("none of gpt-oss, simple-evals, lm-eval-cot"));
}

}  // namespace
}  // namespace assay::evals
