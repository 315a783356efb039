#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "evals/gpqa/gpqa.h"

namespace assay::evals {
namespace {

struct GradeCase {
  std::string name;
  std::string response;
  std::string letter;
};

void PrintTo(const GradeCase& grade, std::ostream* out) {
  *out << grade.name;
}
std::string NameOf(const testing::TestParamInfo<GradeCase>& info) {
  return info.param.name;
}

class CompatGrader : public testing::TestWithParam<GradeCase> {};

TEST_P(CompatGrader, GivesTheLetterOfGptOss) {
  EXPECT_EQ(GradeCompat(GetParam().response).letter, GetParam().letter) << GetParam().response;
}

// Input and output pairs of openai/gpt-oss's own grader (CPython 3.11), wrong ones included.
INSTANTIATE_TEST_SUITE_P(KnownPairs, CompatGrader,
                         testing::ValuesIn(std::vector<GradeCase>{
                             {"BoldKeyword", "**Answer:** A", "A"},
                             {"ItalicPluralKeywordThenDash", "*Answers* – B", "A"},
                             {"UnderlinedKeyword", "__Answer__ C", "C"},
                             {"PluralWithBracket", "Answers: (B)", "B"},
                             {"EnDash", "Answer – D", "D"},
                             {"EmDash", "answer—C", "a"},
                             {"Option", "Option B", "B"},
                             {"OptionSmall", "option  d", "D"},
                             {"Choice", "Choice: C", "C"},
                             {"Boxed", "\\boxed{A}", "A"},
                             {"BoxedTextbf", "\\boxed{\\textbf{C}}", "C"},
                             {"BoxedBracket", "\\boxed{(B)}", "B"},
                             {"BoxedUnit", "\\boxed{3.2\\,\\text{eV}}", "\\"},
                             {"RoundBracket", "(A)", "A"},
                             {"SquareBracket", "[B]", "B"},
                             {"BracketInsideWord", "x(A)y", "x"},
                             {"SmallInBracket", " ( c )", " "},
                             {"BoldAfterLetter", "a**B**", "B"},
                             {"Textbf", "\\textbf{D) foo}", "D"},
                             {"BoldChoiceText", "**D) some text**", "D"},
                             {"ListMark", "- C", "-"},
                             {"SmallLetter", "c", "c"},
                             {"NumberedList", "1. A\n2. B", "1"},
                             {"Quoted", "'B'", "'"},
                             {"LetterThenHan", "Answer: C中", "C"},
                             {"NoBreakSpace", "Answer:\u00a0C", "C"},
                             {"IdeographicSpace", "Answer:\u3000C", "C"},
                             {"Newline", "Answer\nC", "C"},
                             {"AnswerIs", "Answer is C", "A"},
                             {"LetterBeyondD", "Answer: E", "A"},
                             {"TheAnswer", "The answer: B", "B"},
                             {"FinalAnswerBold", "Final Answer: **C**", "C"},
                             {"LineStartsWithD", "Dipole terms vanish, so (A).", "A"},
                             {"LaterBracket", "Because energy is conserved, (C) is right.\n(D) is not.", "C"},
                             {"ChemistryLineStart", "Cα and Cβ ... choice (d)", "C"},
                             {"Empty", "", ""},
                             {"MathMode", "Answer: $D$", "A"},
                             {"FullWidthColon", "Answer：C", "A"},
                             {"BothOptions", "Both options remain possible.", "B"},
                             {"NoneOfTheAbove", "Answer: None of the above", "A"},
                             {"CarbonDioxide", "Answer: Carbon dioxide", "C"},
                             {"CorrectChoiceIs", "The correct choice is B.", "T"},
                             {"Tag", "<answer>B</answer>", "<"},
                             {"Backticks", "Final answer: `B`", "F"},
                             {"ChineseKeyword", "答案：C", "答"},
                             {"FullWidthLetter", "Ｂ", "Ｂ"},
                             {"FirstOfTwoAnswers",
                              "Answer: A\nAfter checking the units I must correct this.\nAnswer: B", "A"},
                             {"UnopenedBold", "**", ""},
                             {"AnswerIsBracketSmall", "The answer is (b).", "T"},
                             {"FullWidthColonOfSeven", "Answer：D", "A"},
                         }),
                         NameOf);

struct HitsCase {
  std::string response;
  std::string letter;
  std::vector<int> hits;
};

// Which of gpt-oss's rules hit, by their place in its list; the first decides.
TEST(CompatRules, HitsTheRulesThatGptOssHits) {
  const std::vector<HitsCase> cases = {
      {"**Answer:** A", "A", {0, 1, 12}},
      {"*Answers* – B", "A", {12}},
      {"__Answer__ C", "C", {0, 1, 12}},
      {"Answers: (B)", "B", {2, 8, 12}},
      {"Answer – D", "D", {3, 12}},
      {"answer—C", "a", {}},
      {"Option B", "B", {4}},
      {"option  d", "D", {4}},
      {"Choice: C", "C", {4, 12}},
      {"\\boxed{A}", "A", {5}},
      {"\\boxed{\\textbf{C}}", "C", {5, 6, 10}},
      {"\\boxed{(B)}", "B", {5, 8}},
      {"\\boxed{3.2\\,\\text{eV}}", "\\", {}},
      {"(A)", "A", {8}},
      {"[B]", "B", {8}},
      {"x(A)y", "x", {}},
      {" ( c )", " ", {}},
      {"a**B**", "B", {9}},
      {"\\textbf{D) foo}", "D", {10}},
      {"**D) some text**", "D", {11, 12}},
      {"- C", "-", {}},
      {"c", "c", {}},
      {"1. A\n2. B", "1", {}},
      {"'B'", "'", {}},
      {"Answer: C中", "C", {1, 12}},
      {"Answer:\u00a0C", "C", {1, 3, 12}},
      {"Answer:\u3000C", "C", {1, 3, 12}},
      {"Answer\nC", "C", {1, 3, 12}},
      {"Answer is C", "A", {12}},
      {"Answer: E", "A", {12}},
      {"The answer: B", "B", {3}},
      {"Final Answer: **C**", "C", {9}},
      {"Dipole terms vanish, so (A).", "A", {8, 12}},
      {"Because energy is conserved, (C) is right.\n(D) is not.", "C", {8, 12}},
      {"Cα and Cβ ... choice (d)", "C", {12}},
      {"", "", {}},
  };
  for (const HitsCase& each : cases) {
    EXPECT_EQ(CompatHits(each.response), each.hits) << each.response;
    const Grade grade = GradeCompat(each.response);
    EXPECT_EQ(grade.letter, each.letter) << each.response;
    const std::string rule = each.hits.empty() ? (each.letter.empty() ? "" : "first character")
                                               : std::to_string(each.hits.front()) + " ";
    EXPECT_EQ(grade.rule.substr(0, rule.size()), rule) << each.response;
  }
}

TEST(StrictRules, NamesTheRuleThatDecided) {
  EXPECT_EQ(GradeStrict("The answer is (b).").rule, "answer is");
  EXPECT_EQ(GradeStrict("so \\boxed{C} follows").rule, "boxed");
  EXPECT_EQ(GradeStrict("故选C。").rule, "chosen, in Chinese");
  EXPECT_EQ(GradeStrict("Carbon").rule, "");
}

class StrictGrader : public testing::TestWithParam<GradeCase> {};

TEST_P(StrictGrader, TakesTheLastExplicitDeclaration) {
  EXPECT_EQ(GradeStrict(GetParam().response).letter, GetParam().letter) << GetParam().response;
}

INSTANTIATE_TEST_SUITE_P(
    ReportedAnswers, StrictGrader,
    testing::ValuesIn(std::vector<GradeCase>{
        {"MathMode", "Answer: $D$", "D"},
        {"SmallLetter", "answer: c", "C"},
        {"BoldKeyword", "**Answer:** C", "C"},
        {"BoldKeywordAndLetter", "**Answer**: **C**", "C"},
        {"LastOfTwo", "Answer: A\nAfter checking the units I must correct this.\nAnswer: B", "B"},
        {"LineBeatsFormula", "\\boxed{\\langle H\\rangle \\ll \\Delta E}\n\n**Answer: D**", "D"},
        {"LineBeforeFormula", "**Answer: D**\n\nas $\\boxed{E = mc^2}$ shows", "D"},
        {"BoxedText", "$\\boxed{\\text{B}}$", "B"},
        {"BoxedMathrm", "\\(\\boxed{\\mathrm{B}}\\)", "B"},
        {"AnswerIsBracketSmall", "The answer is (b).", "B"},
        {"CorrectChoiceIs", "The correct choice is B.", "B"},
        {"Chinese", "答案：C", "C"},
        {"FullWidthColon", "Answer：C", "C"},
        {"FullWidthAnswer", "Ｃ", "C"},
        {"BothOptions", "Both options remain possible.", ""},
        {"CarbonDioxide", "Answer: Carbon dioxide", ""},
        {"NoneOfTheAbove", "Answer: None of the above", ""},
        {"Empty", "", ""},
        {"BoldCapitals", "**ANSWER: C**", "C"},
        {"TripleStars", "***ANSWER***: ***B***", "B"},
        {"BoxedLetterOutsideRange", "\\boxed{\\text{E}}", ""},
        {"BoxedWithText", "\\boxed{C: A polygenic trait}", "C"},
        {"LastBoxWins", "\\boxed{A} was my first idea, but \\boxed{B}", "B"},
        {"BracketedName", "cyclopenta[c]pyridine", ""},
    }),
    NameOf);

INSTANTIATE_TEST_SUITE_P(Forms, StrictGrader,
                         testing::ValuesIn(std::vector<GradeCase>{
                             {"Tag", "<answer>B</answer>", "B"},
                             {"TagBracket", "<answer> (B) </answer>", "B"},
                             {"Backticks", "Final answer: `B`", "B"},
                             {"LoneLetter", "B", "B"},
                             {"LoneSmallLetter", "c\n", "C"},
                             {"LoneBracket", "(B)", "B"},
                             {"LoneQuoted", "'B'", "B"},
                             {"LoneBold", "**D**", "D"},
                             {"LoneWithStop", "A.", "A"},
                             {"LastLineBold", "The field is zero inside.\n\n**B**", "B"},
                             {"LastLineMath", "so that\n\\[\\boxed{C}\\]", "C"},
                             {"ItalicPluralDash", "*Answers* – B", "B"},
                             {"Underlined", "__Answer__ C", "C"},
                             {"EmDash", "answer—C", "C"},
                             {"KeywordLine", "Answer\nC", "C"},
                             {"KeywordAndLetter", "So the answer B.", "B"},
                             {"AnswerLetterAlone", "**Answer** (B)", "B"},
                             {"Choice", "Choice: C", "C"},
                             {"BoxedTextbfBracket", "\\boxed{\\textbf{(C)}}", "C"},
                             {"BoxedOption", "\\boxed{\\text{Option B}}", "B"},
                             {"AnswerIsBoxed", "The final answer is $\\boxed{A}$.", "A"},
                             {"AnswerIsMathbf", "The answer is $\\mathbf{C}$", "C"},
                             {"AnswerShouldBeOption", "The answer should be option D.", "D"},
                             {"CorrectAnswerIsBold", "Thus, the correct answer is **C**.", "C"},
                             {"AnswerWithReason", "Answer: A because the charge is conserved.", "A"},
                             {"AnswerWithText", "Answer: B) 3.2 eV", "B"},
                             {"AnswerBracketText", "Answer: (C) A polygenic trait", "C"},
                             {"AnswerDashText", "Answer: B – the second law", "B"},
                             {"TheCorrectOption", "Answer: the correct option is **B**", "B"},
                             {"OptionIsCorrect", "Therefore option B is correct.", "B"},
                             {"BracketIsTheAnswer", "Hence (D) is the correct answer.", "D"},
                             {"LetterIsTheAnswer", "So B is the correct answer, as shown.", "B"},
                             {"NoBreakSpace", "Answer:\u00a0C", "C"},
                             {"ChineseIs", "综上，正确答案是（B）。", "B"},
                             {"ChineseAnswerChosen", "答案选B", "B"},
                             {"ChineseFinalAnswerChosen", "最终答案选B。", "B"},
                             {"ChineseChoose", "故选C。", "C"},
                             {"ChineseThenReason", "答案是C因为能量守恒", "C"},
                             {"French", "Réponse : B", "B"},
                             {"Spanish", "Respuesta: **D**", "D"},
                             {"Korean", "정답: A", "A"},
                             {"KeywordOnLineAbove", "**Answer**\n\n**B**", "B"},
                             {"AfterNone", "The correct answer is B.\n\nAnswer: Carbon dioxide", "B"},
                         }),
                         NameOf);

INSTANTIATE_TEST_SUITE_P(
    NoDeclaration, StrictGrader,
    testing::ValuesIn(std::vector<GradeCase>{
        {"AnswerIsNot", "The answer is not B.", ""},
        {"SmallArticle", "The answer is a wave.", ""},
        {"CapitalArticle", "Answer: A large nucleus", ""},
        {"TwoLetters", "Answer: A or B", ""},
        {"TwoLettersSlash", "Answer: B/C", ""},
        {"ListOfLetters", "The answer is A, B, C or D.", ""},
        {"PromptEcho", "Express your final answer as the corresponding option 'A', 'B', 'C', or 'D'.", ""},
        {"Placeholder", "Answer: $LETTER", ""},
        {"HeavyWater", "Answer: D2O", ""},
        {"Fullerene", "Answer: C60", ""},
        {"Subscript", "Answer: C₂H₆", ""},
        {"Bond", "Answer: C-C bond", ""},
        {"Smiles", "Answer: C(=O)O", ""},
        {"FieldValue", "Answer: B = 3 T", ""},
        {"Cells", "Answer: B cells", ""},
        {"GreekSuffix", "Answer: Cα", ""},
        {"AllOfTheAbove", "Answer: All of the above", ""},
        {"LetterBeyondD", "Answer: E", ""},
        {"BoxedFormula", "\\boxed{E = A}", ""},
        {"BoxedUnit", "\\boxed{3.2\\,\\text{eV}}", ""},
        {"OptionListed", "Option A: the first law", ""},
        {"OptionWrong", "Option B is incorrect.", ""},
        {"NumberedList", "1. A\n2. B", ""},
        {"BracketMentioned", "I first looked at (A) more closely", ""},
        {"InvalidUtf8", "Answer \xff\xfe", ""},
        {"LimitLine", "Answer: $D \\to \\infty$", ""},
    }),
    NameOf);

TEST(BothGraders, ReadALongResponseInTime) {
  std::string response;
  for (int i = 0; i < 20000; ++i) response += "the answer is that \\boxed{ energy (A) is _ ";
  EXPECT_EQ(GradeStrict(response + "\nAnswer: C").letter, "C");
  EXPECT_EQ(GradeCompat(response + "\nAnswer: C").letter, "C");
}

// What a model writes that does not stop. Quadratic searches take from seconds to minutes here.
TEST(BothGraders, ReadARunawayResponseInTime) {
  std::string answers, boxes;
  for (int i = 0; i < 200000; ++i) answers += "Answer: B\n";
  for (int i = 0; i < 200000; ++i) boxes += "\\boxed{";
  EXPECT_EQ(GradeStrict(answers).letter, "B");
  EXPECT_EQ(GradeCompat(answers).letter, "B");
  EXPECT_EQ(GradeStrict(boxes).letter, "");
  EXPECT_EQ(GradeCompat(boxes).letter, "\\");
  EXPECT_EQ(GradeStrict(boxes + "B}").letter, "B");
  EXPECT_EQ(GradeCompat(boxes + "B}").letter, "B");
  for (const char* filler : {"\n", " \n", " ", "*", "_ ", "$", "\"'", "{"}) {
    std::string run;
    while (run.size() < 1000000) run += filler;
    EXPECT_EQ(GradeStrict("Answer: C\n" + run).letter, "C") << filler;
    EXPECT_EQ(GradeStrict("Answer: C\n" + run + "x").letter, "C") << filler;
    EXPECT_EQ(GradeStrict(run + "\nAnswer: C").letter, "C") << filler;
  }
  const std::string blanks(1000000, ' ');
  EXPECT_EQ(GradeStrict("Answer:" + blanks + "C").letter, "C");
  EXPECT_EQ(GradeStrict("the answer is b." + blanks + "\n" + blanks + "x").letter, "B");
  EXPECT_EQ(GradeStrict("**Answer**" + blanks + "B\n" + blanks + "x").letter, "B") << "a line of its own";
}

}  // namespace
}  // namespace assay::evals
