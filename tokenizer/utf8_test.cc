#include "tokenizer/utf8.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace assay::tokenizer {
namespace {

struct Case {
  const char* name;
  std::string bytes;
  std::string text;  // "?" stands for U+FFFD
  size_t complete;
};

class Utf8Table : public testing::TestWithParam<Case> {};

TEST_P(Utf8Table, IsRepaired) {
  EXPECT_EQ(RepairUtf8(GetParam().bytes), ReplaceAll(GetParam().text, "?", "\xEF\xBF\xBD"));
}

TEST_P(Utf8Table, IsCutBeforeAnUnfinishedSequence) {
  EXPECT_EQ(CompleteUtf8Size(GetParam().bytes), GetParam().complete);
}

// The replacements are those of Python's bytes.decode("utf-8", "replace") and of the Unicode Standard, table
// 3-11.
INSTANTIATE_TEST_SUITE_P(
    Sequences, Utf8Table,
    testing::Values(Case{"Empty", "", "", 0}, Case{"Ascii", "ab", "ab", 2},
                    Case{"Valid", "\xC2\x80\xE0\xA0\x80\xED\x9F\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF",
                         "\xC2\x80\xE0\xA0\x80\xED\x9F\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", 16},
                    Case{"LoneContinuation",
                         "\x80"
                         "a",
                         "?a", 2},
                    Case{"OnlyContinuations", "\x80\x80\x80\x80", "????", 4},
                    Case{"OverlongSlash", "\xC0\xAF", "??", 2},
                    Case{"OverlongThree", "\xE0\x80\xAF", "???", 3},
                    Case{"Surrogate", "\xED\xA0\x80", "???", 3},
                    Case{"AboveTheLast", "\xF4\x90\x80\x80", "????", 4},
                    Case{"NeverALead", "\xF5\xFF", "??", 2}, Case{"CutTwoOfThree", "\xE2\x82", "?", 0},
                    Case{"CutThreeOfFour", "a\xF0\x9F\x99", "a?", 1}, Case{"CutOneOfTwo", "a\xC3", "a?", 1},
                    Case{"BrokenByAscii",
                         "\xE2\x82"
                         "a",
                         "?a", 3},
                    Case{"BrokenByLead", "\xF0\x9F\xC3\xA9", "?\xC3\xA9", 4},
                    Case{"BrokenThenCut", "\xF0\x9F\xE2\x82", "??", 2},
                    Case{"Table3x11",
                         "a\xF1\x80\x80\xE1\x80\xC2"
                         "b\x80"
                         "c\x80\xBF"
                         "d",
                         "a???b?c??d", 13}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace assay::tokenizer
