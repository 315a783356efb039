#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evals/gpqa/csv.h"
#include "evals/gpqa/dataset.h"

namespace assay::evals {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHeader[] =
    "Pre-Revision Correct Answer,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,"
    "Incorrect Answer 3,Extra Revised Correct Answer,Record ID,High-level domain,"
    "Writer's Difficulty Estimate\n";

Result<std::vector<Question>> Load(const std::string& content) {
  return ParseQuestions(content, "q.csv");
}

std::string LoadError(const std::string& content) {
  const auto questions = Load(content);
  return questions ? "no error" : questions.error().message;
}

TEST(ParseQuestions, MatchesHeadersExactly) {
  const auto questions = Load(std::string(kHeader) + "old,Q?,right,w1,w2,w3,new,rec1,Physics,Easy\n");
  ASSERT_TRUE(questions.has_value()) << questions.error().message;
  ASSERT_EQ(questions->size(), 1u);
  const Question& question = questions->front();
  EXPECT_EQ(question.id, "rec1");
  EXPECT_EQ(question.text, "Q?");
  EXPECT_THAT(question.choices, ElementsAre("right", "w1", "w2", "w3"));
  EXPECT_EQ(question.domain, "Physics");
  EXPECT_EQ(question.band, "Easy");
}

TEST(ParseQuestions, KeepsValuesToTheByte) {
  const auto questions = Load(std::string("\xEF\xBB\xBF") + kHeader +
                              "x,\"line 1\nsays \"\"hi\"\", twice\",\"ln(2) = [ (T_1 - T_2) / (T1*T2) ]\n\","
                              "cyclopenta[c]pyridine,\"\xE2\x88\x92 1\", 3 ,y,rec1,Chemistry,\r\n");
  ASSERT_TRUE(questions.has_value()) << questions.error().message;
  const Question& question = questions->front();
  EXPECT_EQ(question.text, "line 1\nsays \"hi\", twice");
  EXPECT_THAT(question.choices, ElementsAre("ln(2) = [ (T_1 - T_2) / (T1*T2) ]\n", "cyclopenta[c]pyridine",
                                            "\xE2\x88\x92 1", " 3 "));
}

TEST(ParseQuestions, ReadsTheBundledSet) {
  const auto csv = ReadDataset(Path(ASSAY_SOURCE_DIR) / "models/tiny-moe/questions.csv", "", "");
  ASSERT_TRUE(csv.has_value()) << csv.error().message;
  const auto questions = ParseQuestions(csv->text, csv->name);
  ASSERT_TRUE(questions.has_value()) << questions.error().message;
  EXPECT_EQ(questions->size(), 448u);
}

TEST(ParseQuestions, NamesTheMissingColumnAndTheNearestHeader) {
  EXPECT_THAT(LoadError("Question,Correct answer,Record ID\na,b,c\n"),
              HasSubstr("q.csv: no column named 'Correct Answer' (nearest: 'Correct answer')"));
}

TEST(ParseQuestions, RefusesAnEmptyFile) {
  EXPECT_THAT(LoadError(""), HasSubstr("q.csv: empty file"));
  EXPECT_THAT(LoadError(kHeader), HasSubstr("q.csv: a header and no questions"));
}

TEST(ParseQuestions, NamesTheLineOfAWrongRow) {
  EXPECT_THAT(LoadError(std::string(kHeader) + "x,\"two\nlines\",r,w,w,w,y,rec1,Physics,\nx,Q,r\n"),
              HasSubstr("q.csv:4: row has 3 fields, the header has 10"));
}

TEST(ParseQuestions, RefusesARepeatedRecordId) {
  const std::string row = "x,Q,r,w,w,w,y,rec1,Physics,\n";
  EXPECT_THAT(LoadError(kHeader + row + row),
              HasSubstr("q.csv:3: Record ID 'rec1' was already used in line 2"));
}

TEST(ParseQuestions, RefusesAnEmptyAnswer) {
  EXPECT_THAT(LoadError(std::string(kHeader) + "x,Q,,w,w,w,y,rec1,Physics,\n"),
              HasSubstr("q.csv:2: column 'Correct Answer' is empty"));
}

TEST(ParseCsv, DropsBlankLinesAndNeedsNoFinalNewline) {
  const auto rows = ParseCsv("a,b\r\n\r\n1,\n\n2,\"\"", "t.csv");
  ASSERT_TRUE(rows.has_value());
  ASSERT_EQ(rows->size(), 3u);
  EXPECT_THAT((*rows)[1].fields, ElementsAre("1", ""));
  EXPECT_EQ((*rows)[2].line, 5);
  EXPECT_THAT((*rows)[2].fields, ElementsAre("2", ""));
}

TEST(ParseCsv, NamesTheLineWhereAQuoteIsOpened) {
  EXPECT_EQ(ParseCsv("a,b\n1,\"cut\nhere", "t.csv").error().message,
            "t.csv:2: quote opened here is never closed: is the file cut?");
}

TEST(ParseCsv, RefusesStrayQuotes) {
  EXPECT_THAT(ParseCsv("a,b\n1,5\" pipe\n", "t.csv").error().message, HasSubstr("t.csv:2: quote inside"));
  EXPECT_THAT(ParseCsv("a,b\n1,\"x\"y\n", "t.csv").error().message, HasSubstr("t.csv:2: text after"));
}

}  // namespace
}  // namespace assay::evals
