#include "evals/gpqa/question_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace assay::evals {
namespace {

constexpr char kPrompt[] =
    "What is the energy of the \"ground state\", in eV?\n\n(A) −13.6 of hydrogen atoms\n(B) it isn't known & "
    "never was\\will be";

std::string Left(const std::string& text) {
  QuestionText question;
  question.Add(kPrompt);
  return question.LeaveOut(text);
}

std::string Json(const std::string& text) {
  return nlohmann::json(text).dump();
}

std::string AsciiJson(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true);
}

TEST(QuestionText, IsLeftOutAsSent) {
  EXPECT_EQ(Left(std::string("HTTP 400: ") + kPrompt + ": too long"),
            "HTTP 400: (question left out): too long");
}

// What nlohmann writes, and what Python's repr and json.dumps print of the same text.
TEST(QuestionText, IsLeftOutHoweverItIsQuoted) {
  const std::string python =
      R"('What is the energy of the "ground state", in eV?\n\n(A) −13.6 of hydrogen atoms\n(B) it isn\'t known & never was\\will be')";
  const std::string python_bytes =
      R"(b'What is the energy of the "ground state", in eV?\n\n(A) \xe2\x88\x9213.6 of hydrogen atoms\n(B) it isn\'t known & never was\\will be')";
  const std::string html =
      "What is the energy of the &quot;ground state&quot;, in eV?<br>(A) &#8722;13.6 of hydrogen "
      "atoms<br>(B) it "
      "isn&#39;t known &amp; never was\\will be";
  for (const std::string& quoted :
       {Json(kPrompt), AsciiJson(kPrompt), Json(Json(kPrompt)), AsciiJson(AsciiJson(kPrompt)), python,
        Json(python), python_bytes, html, Json(html)}) {
    const std::string left = Left("bad request: " + quoted + " (limit 8)");
    EXPECT_THAT(left, ::testing::StartsWith("bad request: ")) << quoted;
    EXPECT_THAT(left, ::testing::EndsWith(" (limit 8)")) << quoted;
    for (const char* word : {"energy", "ground", "hydrogen", "atoms", "known", "never", "will"})
      EXPECT_THAT(left, ::testing::Not(::testing::HasSubstr(word))) << quoted << "\n" << left;
  }
}

TEST(QuestionText, IsLeftOutWithoutItsBlanksAndInCapitals) {
  EXPECT_EQ(Left("said: WHAT IS THE   ENERGY OF THE GROUND STATE"), "said: (question left out)");
}

TEST(QuestionText, LeavesWhatTheServerSaysItself) {
  for (const std::string text :
       {"HTTP 500: max_tokens is too large: 4096 > 2048", "model \\u00e9 not found \\", "\\u12", "&#;&&amp",
        "\\", "\\ud83d\\u0041", "energy of"}) {
    EXPECT_EQ(Left(text), text);
  }
}

// Every cut of a quoted question is found but for ends shorter than 16 letters.
TEST(QuestionText, IsLeftOutInPieces) {
  const std::string quoted = Json(kPrompt);
  for (size_t begin = 0; begin < quoted.size(); ++begin) {
    for (size_t length = 40; begin + length <= quoted.size(); length += 7) {
      const std::string left = Left(quoted.substr(begin, length));
      EXPECT_THAT(left, ::testing::HasSubstr("(question left out)")) << quoted.substr(begin, length);
    }
  }
}

}  // namespace
}  // namespace assay::evals
