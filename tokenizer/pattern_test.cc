#include "tokenizer/pattern.h"

#include <gtest/gtest.h>

namespace assay::tokenizer {
namespace {

TEST(TranslatePattern, KeepsWhatBothEnginesReadAlike) {
  for (const char* pattern : {"'s|'t", "(?:a|b)?c{2,3}", "a*?b++", R"(\r\n\t\.\[)", "[^a-z\\]]", "(?i:'s|'t)",
                              "x(?!y)", "(?<=a)b", "(?>a+)", ".", "(a)b", "c{2,}"}) {
    EXPECT_EQ(TranslatePattern(pattern), std::string(pattern)) << pattern;
  }
}

TEST(TranslatePattern, RewritesWhatTheyReadDifferently) {
  EXPECT_EQ(TranslatePattern(R"(\s\S[^\s])"), R"(\p{White_Space}\P{White_Space}[^\p{White_Space}])");
  EXPECT_EQ(TranslatePattern(R"(\v\x41\x{1F642}\u00e9)"), R"(\x0B\x{41}\x{1F642}\x{00e9})");
}

TEST(TranslatePattern, AddsTheCharactersThatPcre2DoesNotKnowYet) {
  EXPECT_EQ(TranslatePattern(R"(\p{Pd})"), R"([\p{Pd}\x{10D6E}-\x{10D6E}])");
  EXPECT_EQ(TranslatePattern(R"(\P{Pd}\p{^Pd}[^a\p{Pd}])"),
            R"([^\p{Pd}\x{10D6E}-\x{10D6E}][^\p{Pd}\x{10D6E}-\x{10D6E}][^a\p{Pd}\x{10D6E}-\x{10D6E}])");
  EXPECT_EQ(TranslatePattern(R"(\p{Sc})"), R"([\p{Sc}])");
}

struct Refusal {
  const char* name;
  const char* pattern;
  const char* message;
};

class RefusedPattern : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedPattern, SaysWhat) {
  const auto translated = TranslatePattern(GetParam().pattern);
  ASSERT_FALSE(translated) << *translated;
  EXPECT_NE(translated.error().message.find(GetParam().message), std::string::npos)
      << translated.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, RefusedPattern,
    testing::Values(Refusal{"Caret", "^a", "an anchor is not supported at byte 0 of the pattern ^a"},
                    Refusal{"Dollar", "\\s+$", "an anchor"},
                    Refusal{"WordCharacter", "\\w+", "\\w is not supported"},
                    Refusal{"WordBoundary", "a\\b", "\\b is not supported"},
                    Refusal{"HexDigitOfOniguruma", "\\h", "\\h is not supported"},
                    Refusal{"BackReference", "(a)\\1", "\\1 is not supported"},
                    Refusal{"BackslashAtTheEnd", "a\\", "is not supported"},
                    Refusal{"Script", "\\p{Han}", "the property Han is not supported"},
                    Refusal{"UnassignedCharacters", "\\p{Cn}", "the property Cn"},
                    Refusal{"NegatedPropertyInClass", "[\\P{L}]", "a negated property in a class"},
                    Refusal{"NegatedDigitInClass", "[\\D]", "a negated property in a class"},
                    Refusal{"PropertyWithoutBraces", "\\pL", "\\p without {...}"},
                    Refusal{"RawByte", "\\xE3", "this \\x is not supported"},
                    Refusal{"ClassInClass", "[a[bc]]", "a class inside a class"},
                    Refusal{"PosixClass", "[[:alpha:]]", "a class inside a class"},
                    Refusal{"Intersection", "[a-z&&[^b]]", "\"&&\" in a class"},
                    Refusal{"OpenClass", "[abc", "a class is not closed"},
                    Refusal{"BracketFirst", "[]a]", "\"]\" at the start of a class"},
                    Refusal{"InlineFlag", "(?i)a", "this kind of group"},
                    Refusal{"NamedGroup", "(?<n>a)", "this kind of group"},
                    Refusal{"Verb", "(*UTF)a", "this kind of group"},
                    Refusal{"OpenGroup", "(?:a", "a group is not closed"},
                    Refusal{"RepeatedGroup", "(?:a+)+b", "a group repeated without bound"},
                    Refusal{"OpenRepeatedGroup", "(?:a+){2,}b", "a group repeated without bound"},
                    Refusal{"IntervalPlus", "a{1,3}+", "\"?\" or \"+\" after {...}"},
                    Refusal{"IntervalWithoutStart", "a{,3}", "\"{\" that is not"},
                    Refusal{"LiteralBrace", "a{b", "\"{\" that is not"},
                    Refusal{"CaselessPairThatFolds", "(?i:'ss)", "\"ss\" inside (?i:...)"},
                    Refusal{"CaselessClass", "(?i:[a-z])", "a class, escape or group inside (?i:...)"}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace assay::tokenizer
