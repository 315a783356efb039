#include "base/text.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(NearestWord, FindsATypingMistakeAndNothingFarAway) {
  const std::vector<std::string> keys = {"tokenizer", "tensor_parallel_size", "threshold"};
  EXPECT_EQ(NearestWord("tokeniser", keys), "tokenizer");
  EXPECT_EQ(NearestWord("treshold", keys), "threshold");
  EXPECT_EQ(NearestWord("colour", keys), std::nullopt);
}

TEST(SplitLines, TakesCrlfAndAMissingFinalEnd) {
  EXPECT_EQ(SplitLines("a\r\nb"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(SplitLines("a\n\nb\n"), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_TRUE(SplitLines("").empty());
}

TEST(Printable, DropsColourAndControlAndRepairsUtf8) {
  EXPECT_EQ(Printable("\x1b[31mred\x1b[0m\x07"), "red");
  EXPECT_EQ(Printable("a\xff"
                      "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(Printable("tab\tline\n"), "tab\tline\n");
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate is not UTF-8";
}

TEST(ShellQuote, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(ShellJoin({"serve", "--x=1", "a b", "it's", ""}), "serve --x=1 'a b' 'it'\\''s' ''");
}

}  // namespace
}  // namespace assay
