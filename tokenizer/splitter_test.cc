#include "tokenizer/splitter.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

namespace assay::tokenizer {
namespace {

using Pieces = std::vector<std::string_view>;

constexpr const char* kO200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

Pieces SplitBy(const char* pattern, std::string_view text) {
  const auto splitter = Splitter::Compile(pattern);
  EXPECT_TRUE(splitter) << splitter.error().message;
  Pieces pieces;
  if (splitter) splitter->Split(text, &pieces);
  return pieces;
}

TEST(Splitter, GivesMatchesAndWhatLiesBetween) {
  EXPECT_EQ(SplitBy("b+", "abbcb"), (Pieces{"a", "bb", "c", "b"}));
  EXPECT_EQ(SplitBy("x", "abc"), (Pieces{"abc"}));
  EXPECT_EQ(SplitBy("x", ""), Pieces{});
}

TEST(Splitter, CutsAtEmptyMatchesAsOnigurumaDoes) {
  EXPECT_EQ(SplitBy("b*", "abbac"), (Pieces{"a", "bb", "a", "c"}));
  EXPECT_EQ(SplitBy("b*", "\xC3\xA9\xE5\xAD\x97"), (Pieces{"\xC3\xA9", "\xE5\xAD\x97"}));
}

TEST(Splitter, SplitsAsO200kDoes) {
  EXPECT_EQ(SplitBy(kO200k, "Hello, World's end!  \n\n x12345 HTTPServer"),
            (Pieces{"Hello", ",", " World's", " end", "!", "  \n\n", " x", "123", "45", " HTTPServer"}));
  EXPECT_EQ(SplitBy(kO200k, "a   b"), (Pieces{"a", "  ", " b"}));
  EXPECT_EQ(SplitBy(kO200k, "IT'S IT'\xC5\xBF"), (Pieces{"IT'S", " IT'\xC5\xBF"})) << "long s folds to s";
}

TEST(Splitter, KnowsWhatUnicodeCallsASpace) {
  EXPECT_EQ(SplitBy(R"(\s+)",
                    "a\xC2\x85"
                    "b"),
            (Pieces{"a", "\xC2\x85", "b"}));
  EXPECT_EQ(SplitBy(R"(\s+)",
                    "a\xE1\xA0\x8E"
                    "b"),
            (Pieces{"a\xE1\xA0\x8E"
                    "b"}))
      << "U+180E is none since Unicode 6.3";
  EXPECT_EQ(SplitBy(R"(\s+)",
                    "a\x1C"
                    "b"),
            (Pieces{"a\x1C"
                    "b"}));
}

TEST(Splitter, KnowsLettersOfUnicode16) {
  EXPECT_EQ(SplitBy(R"(\p{L}+)",
                    "\xF0\x93\x91\xA0"
                    "a"),
            (Pieces{"\xF0\x93\x91\xA0"
                    "a"}))
      << "U+13460";
}

TEST(Splitter, NamesThePatternThatCannotBeCompiled) {
  const auto splitter = Splitter::Compile("a)");
  ASSERT_FALSE(splitter);
  EXPECT_NE(splitter.error().message.find("unmatched closing parenthesis at byte 1"), std::string::npos)
      << splitter.error().message;
}

// Each would need the square of its length, or more, if the pattern backtracked badly: minutes, not
// milliseconds.
TEST(Splitter, TakesLongRunsInOneStride) {
  constexpr size_t kRun = 100'000;
  for (const char* unit :
       {" ", "A", "a", "\n", " \n", "'", "1", "\xCC\x81", "Aa", " A", "'s", "\t ", "-", "/"}) {
    std::string text;
    while (text.size() < kRun) text += unit;
    for (const char* end : {"", "x", "X", "1", " x"}) {
      const std::string whole = text + end;
      const Pieces pieces = SplitBy(kO200k, whole);
      const size_t total =
          std::accumulate(pieces.begin(), pieces.end(), size_t{0},
                          [](size_t sum, std::string_view piece) { return sum + piece.size(); });
      ASSERT_EQ(total, whole.size()) << unit << end;
    }
  }
}

TEST(Splitter, GivesUpOnABadPatternInBoundedTime) {
  // Five quantifiers over one class: the fifth power of the length in steps, 10^17, if nothing stopped it.
  const std::string text = std::string(3000, 'a') + "cb";
  const Pieces pieces = SplitBy("a*a*a*a*a*b", text);
  EXPECT_EQ(pieces.front(), "a") << "where it gives up, one character is a piece";
  EXPECT_EQ(pieces.back(), "b");
  EXPECT_EQ(SplitBy("a*a*a*a*a*b", "aacbaab"), (Pieces{"aac", "b", "aab"}))
      << "a short text is matched in full";
}

}  // namespace
}  // namespace assay::tokenizer
