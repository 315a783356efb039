#include "tokenizer/added_tokens.h"

#include <gtest/gtest.h>

namespace assay::tokenizer {
namespace {

// "ab|7|c": text, then the token 7, then text.
std::string Show(const std::vector<Span>& spans) {
  std::string shown;
  for (const Span& span : spans) {
    if (!shown.empty()) shown += '|';
    shown += span.id >= 0 ? std::to_string(span.id) : std::string(span.text);
  }
  return shown;
}

TEST(AddedTokenFinder, TakesTheLeftmostThenTheLongest) {
  const AddedTokenFinder finder(
      {{1, "<a>", false, false}, {2, "<a>b", false, false}, {3, "b", false, false}});
  EXPECT_EQ(Show(finder.Split("x<a>b<a>c", false)), "x|2|1|c");
  EXPECT_EQ(Show(finder.Split("<a", false)), "<a");
  EXPECT_EQ(Show(finder.Split("", false)), "");
  EXPECT_EQ(Show(finder.Split("bb", false)), "3|3");
}

TEST(AddedTokenFinder, LeavesControlTokensAsTextWhenAsked) {
  const AddedTokenFinder finder(
      {{1, "<|end|>", true, false}, {2, "<tool>", false, false}, {3, "end", false, false}});
  EXPECT_EQ(Show(finder.Split("a<|end|><tool>", false)), "a|1|2");
  EXPECT_EQ(Show(finder.Split("a<|end|><tool>end", true)), "a<|end|>|2|3")
      << "and nothing is found inside them";
}

TEST(AddedTokenFinder, LooksForNormalizedTokensLast) {
  const AddedTokenFinder finder({{1, "abc", false, true}, {2, "c", false, false}});
  EXPECT_EQ(Show(finder.Split("abcabc", false)), "ab|2|ab|2");
  EXPECT_EQ(Show(finder.Split("ab", false)), "ab");
}

}  // namespace
}  // namespace assay::tokenizer
