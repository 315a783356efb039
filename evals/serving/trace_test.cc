#include "evals/serving/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_dir.h"

namespace assay::evals {
namespace {

using ::testing::HasSubstr;

TEST(LoadTrace, ReadsSecondsAndMooncakesForm) {
  const assay::testing::TempDir folder;
  const auto trace = LoadTrace(folder.Write(
      "t.jsonl",
      "0\n1.5\r\n\n{\"timestamp\": 2000, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [0]}\n"
      "{\"timestamp\": 2000}"));
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  ASSERT_EQ(trace->size(), 4u);
  EXPECT_EQ((*trace)[1].at_s, 1.5);
  EXPECT_FALSE((*trace)[1].input_len.has_value());
  EXPECT_EQ((*trace)[2].at_s, 2);
  EXPECT_EQ((*trace)[2].input_len, 6758);
  EXPECT_EQ((*trace)[2].output_len, 500);
  EXPECT_EQ((*trace)[3].at_s, 2) << "two at one moment are fine";
}

struct Case {
  const char* name;
  const char* text;
  const char* message;
};
class BadTrace : public ::testing::TestWithParam<Case> {};

TEST_P(BadTrace, IsRefusedWithItsLine) {
  const assay::testing::TempDir folder;
  const auto trace = LoadTrace(folder.Write("t.txt", GetParam().text));
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(trace.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadTrace,
    ::testing::Values(
        Case{"Empty", "\n\n", "holds no request"},
        Case{"Word", "0\nsoon\n", "t.txt:2: seconds or a JSON object"},
        Case{"HalfANumber", "1.5x", "t.txt:1: seconds or a JSON object"},
        Case{"NotANumber", "nan", "t.txt:1: the time must be in"},
        Case{"Infinite", "inf", "t.txt:1: the time must be in"},
        Case{"Negative", "-1", "t.txt:1: the time must be in"},
        Case{"GoesBack", "0\n2\n1\n", "t.txt:3: goes back from 2 s to 1 s"},
        Case{"BrokenJson", "{\"timestamp\": 1", "t.txt:1: line: not valid JSON"},
        Case{"NoTimestamp", "{\"input_length\": 1}", "t.txt:1: timestamp: is missing"},
        Case{"TextTimestamp", "{\"timestamp\": \"1\"}", "t.txt:1: timestamp: a number is needed"},
        Case{"NoTokens", "{\"timestamp\": 1, \"input_length\": 0}", "input_length: must be in [1, 10000000]"},
        Case{"Bytes", "\xFF\xFE\x01", "t.txt:1: seconds or a JSON object"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(LoadTrace, NamesTheFileThatIsNotThere) {
  const auto trace = LoadTrace("nowhere.txt");
  ASSERT_FALSE(trace.has_value());
  EXPECT_THAT(trace.error().message, HasSubstr("nowhere.txt"));
}

}  // namespace
}  // namespace assay::evals
