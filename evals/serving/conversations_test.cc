#include "evals/serving/conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/temp_dir.h"

namespace assay::evals {
namespace {

using ::testing::HasSubstr;

constexpr char kShareGpt[] = R"([
  {"id": "a", "conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}, {"from": "human", "value": "x"}]},
  {"id": "b", "conversations": [{"from": "human", "value": "alone"}]},
  {"id": "c", "conversations": []},
  {"id": "d", "conversations": [{"from": "system", "value": "caf\u00e9"}, {"from": "gpt", "value": ""}]}
])";

TEST(LoadShareGpt, TakesTheFirstTwoTurns) {
  const assay::testing::TempDir folder;
  const auto loaded = LoadShareGpt(folder.Write("s.json", kShareGpt));
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  ASSERT_EQ(loaded->size(), 2u) << "one turn is no conversation";
  EXPECT_EQ((*loaded)[0].prompt, "Hi");
  EXPECT_EQ((*loaded)[0].answer, "Hello.");
  EXPECT_EQ((*loaded)[1].prompt, "caf\xC3\xA9");
}

TEST(LoadCustom, ReadsPromptsAndTheirLengths) {
  const assay::testing::TempDir folder;
  const auto loaded = LoadCustom(folder.Write(
      "c.jsonl", "{\"prompt\": \"one\", \"output_tokens\": 9}\r\n\n{\"prompt\": \"two\", \"x\": 1}"));
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  ASSERT_EQ(loaded->size(), 2u);
  EXPECT_EQ((*loaded)[0].output_tokens, 9);
  EXPECT_EQ((*loaded)[1].prompt, "two");
  EXPECT_FALSE((*loaded)[1].output_tokens.has_value());
}

struct Case {
  const char* name;
  Result<std::vector<Conversation>> (*load)(const Path&);
  const char* text;
  const char* message;
};
class BadDataset : public ::testing::TestWithParam<Case> {};

TEST_P(BadDataset, IsRefusedWithThePlace) {
  const assay::testing::TempDir folder;
  const auto loaded = GetParam().load(folder.Write("data", GetParam().text));
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(loaded.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadDataset,
    ::testing::Values(
        Case{"ShareGptCut", LoadShareGpt, "[{\"conversations\": [",
             "data: is not valid JSON; ShareGPT's form"},
        Case{"ShareGptAnObject", LoadShareGpt, "{\"conversations\": []}", "is not a JSON list"},
        Case{"ShareGptOfMessages", LoadShareGpt, R"([{"messages": []}])",
             "entry 0 has no list of conversations"},
        Case{"ShareGptOfTexts", LoadShareGpt, R"(["a"])", "entry 0 has no list of conversations"},
        Case{"ShareGptTurnsAsText", LoadShareGpt, R"([{"conversations": ["a", "b"]}])",
             "a turn of entry 0 has no text in value"},
        Case{"ShareGptValueNotText", LoadShareGpt, R"([{"conversations": [{"value": 1}, {"value": "b"}]}])",
             "a turn of entry 0 has no text in value"},
        Case{"ShareGptNothing", LoadShareGpt, "[]", "holds no conversation of two turns"},
        Case{"CustomBroken", LoadCustom, "{\"prompt\": \"a\"}\n{\"prompt\": \"b\"\n",
             "data:2: not valid JSON"},
        Case{"CustomList", LoadCustom, "[\"a\"]", "data:1: a JSON object is needed"},
        Case{"CustomNoPrompt", LoadCustom, "{\"text\": \"a\"}", "data:1: prompt: a text that is not empty"},
        Case{"CustomPromptNotText", LoadCustom, "{\"prompt\": [1]}", "data:1: prompt: a string is needed"},
        Case{"CustomZeroTokens", LoadCustom, "{\"prompt\": \"a\", \"output_tokens\": 0}",
             "data:1: output_tokens: must be in"},
        Case{"CustomNotUtf8", LoadCustom, "{\"prompt\": \"\xFF\"}", "data:1: not valid JSON"},
        Case{"CustomEmpty", LoadCustom, "\n", "holds no prompt"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace assay::evals
