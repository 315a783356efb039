#include "evals/serving/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "evals/serving/exact_text.h"
#include "testing/temp_dir.h"

namespace assay::evals {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// One token for each so many bytes of a word, as a stand-in for tokenizers of small vocabularies.
Encoder BytesPerToken(size_t bytes) {
  return [bytes](std::string_view text) -> Result<std::vector<int32_t>> {
    std::vector<int32_t> ids;
    for (const std::string& word : Split(text, ' ')) {
      for (size_t i = 0; i < word.size(); i += bytes) {
        uint32_t id = 0;
        for (const char c : word.substr(i, bytes)) id = id * 31 + static_cast<uint32_t>(c);
        ids.push_back(static_cast<int32_t>(id));
      }
    }
    return ids;
  };
}

const Encoder kNone = [](std::string_view) -> Result<std::vector<int32_t>> {
  return Fail(ErrorKind::kInfrastructure, "no tokenizer here");
};

ServingOptions Random() {
  ServingOptions options;
  options.name = "test";
  options.input_len = 16;
  options.output_len = 4;
  options.vocab_size = 1000;
  return options;
}

std::vector<PlannedPrompt> Plan(const ServingOptions& options, int64_t count,
                                const std::string& phase = "measured", const Encoder& encode = kNone,
                                const std::vector<TraceEntry>& trace = {}) {
  auto planned = PlanPrompts(options, phase, count, trace, encode);
  EXPECT_TRUE(planned.has_value()) << planned.error().message;
  return planned ? std::move(planned->prompts) : std::vector<PlannedPrompt>(static_cast<size_t>(count));
}

TEST(RandomPrompts, MoreOfThemDoNotChangeTheFirst) {
  const auto few = Plan(Random(), 3), many = Plan(Random(), 30);
  for (size_t i = 0; i < few.size(); ++i) EXPECT_EQ(few[i].ids, many[i].ids);
}

TEST(RandomPrompts, NoTwoPhasesOrRepetitionsShareOne) {
  ServingOptions again = Random();
  again.repetition = 1;
  std::set<std::vector<int32_t>> seen;
  for (const auto& prompts : {Plan(Random(), 20), Plan(Random(), 20, "warm_up"), Plan(again, 20)}) {
    for (const PlannedPrompt& prompt : prompts) EXPECT_TRUE(seen.insert(prompt.ids).second);
  }
  again.fresh_prompts = false;
  EXPECT_EQ(Plan(again, 1)[0].ids, Plan(Random(), 1)[0].ids) << "the same prompts when asked for";
}

TEST(RandomPrompts, LengthsFillTheRange) {
  ServingOptions options = Random();
  options.input_len = 10;
  options.range_ratio = 0.5;
  std::set<size_t> inputs;
  std::set<int64_t> outputs;
  for (const PlannedPrompt& prompt : Plan(options, 500)) {
    inputs.insert(prompt.ids.size());
    outputs.insert(prompt.output_len);
    EXPECT_EQ(prompt.prompt_tokens, static_cast<int64_t>(prompt.ids.size()));
  }
  EXPECT_EQ(*inputs.begin(), 5u);
  EXPECT_EQ(*inputs.rbegin(), 15u);
  EXPECT_EQ(outputs, (std::set<int64_t>{2, 3, 4, 5, 6}));
}

TEST(RandomPrompts, SharePrefixesInTurn) {
  ServingOptions options = Random();
  options.prefix_len = 8;
  options.num_prefixes = 3;
  const auto prompts = Plan(options, 7);
  const auto prefix = [&](size_t i) {
    return std::vector<int32_t>(prompts[i].ids.begin(), prompts[i].ids.begin() + 8);
  };
  EXPECT_EQ(prompts.size(), 7u) << "none is dropped because 7 is no multiple of 3";
  EXPECT_EQ(prompts[0].ids.size(), 24u);
  EXPECT_EQ(prefix(0), prefix(3));
  EXPECT_EQ(prefix(0), prefix(6));
  EXPECT_NE(prefix(0), prefix(1));
  EXPECT_NE(prompts[0].ids, prompts[3].ids);
}

TEST(RandomPrompts, TakeLengthsFromATrace) {
  const auto prompts = Plan(Random(), 2, "measured", kNone, {{0, 3, 9}, {1, {}, {}}});
  EXPECT_EQ(prompts[0].ids.size(), 3u);
  EXPECT_EQ(prompts[0].output_len, 9);
  EXPECT_EQ(prompts[1].ids.size(), 16u);
}

TEST(RandomPrompts, AskTheServerForAVocabularyWhereNoneIsKnown) {
  ServingOptions options = Random();
  options.vocab_size = 0;
  EXPECT_EQ(Plan(options, 1, "measured", BytesPerToken(3))[0].ids.size(), 16u);
  const auto planned = PlanPrompts(options, "measured", 1, {}, kNone);
  ASSERT_FALSE(planned.has_value());
  EXPECT_EQ(planned.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(planned.error().message, HasSubstr("no tokenizer here"));
}

TEST(ExactText, HasExactlySoManyTokens) {
  for (const size_t bytes : {1u, 2u, 3u, 8u}) {
    for (const int64_t tokens : {1, 2, 7, 64, 513}) {
      SplitMix64 random(static_cast<uint64_t>(tokens));
      const Encoder encode = BytesPerToken(bytes);
      const auto text = ExactText(random, tokens, encode);
      ASSERT_TRUE(text.has_value()) << bytes << " bytes a token: " << text.error().message;
      EXPECT_EQ(encode(*text)->size(), static_cast<size_t>(tokens)) << bytes << " bytes a token";
    }
  }
}

TEST(ExactText, SaysWhenATokenizerCannotBeMet) {
  SplitMix64 random(1);
  const auto text = ExactText(
      random, 5, [](std::string_view) -> Result<std::vector<int32_t>> { return std::vector<int32_t>(8); });
  ASSERT_FALSE(text.has_value());
  EXPECT_THAT(text.error().message, HasSubstr("no text of exactly 5 tokens"));
}

TEST(RandomPrompts, AreTextOfExactLengthForChat) {
  ServingOptions options = Random();
  options.api = "chat";
  options.prefix_len = 5;
  const Encoder encode = BytesPerToken(8);
  const auto prompts = Plan(options, 3, "measured", encode);
  for (const PlannedPrompt& prompt : prompts) {
    EXPECT_TRUE(prompt.ids.empty());
    EXPECT_EQ(encode(prompt.text)->size(), 21u);
    EXPECT_EQ(prompt.prompt_tokens, 21);
  }
  EXPECT_NE(prompts[0].text, prompts[1].text);
}

class ConversationPromptsTest : public ::testing::Test {
 protected:
  ServingOptions Options(const std::string& dataset, const std::string& text) {
    ServingOptions options;
    options.dataset = dataset;
    options.dataset_path = folder_.Write("data", text);
    return options;
  }
  static std::string ShareGpt(int first, int count) {
    json list = json::array();
    for (int i = first; i < first + count; ++i) {
      list.push_back({{"conversations",
                       {{{"from", "human"}, {"value", "w w w w " + std::to_string(i)}},
                        {{"from", "gpt"}, {"value", "a b c d e f"}}}}});
    }
    return list.dump();
  }
  assay::testing::TempDir folder_;
};

TEST_F(ConversationPromptsTest, ShareGptCountsBothTurns) {
  ServingOptions options = Options("sharegpt", ShareGpt(10, 20));
  const auto prompts = Plan(options, 5, "measured", BytesPerToken(8));
  EXPECT_EQ(prompts[0].prompt_tokens, 5);
  EXPECT_EQ(prompts[0].output_len, 6);
  options.override_output_len = true;
  options.output_len = 77;
  EXPECT_EQ(Plan(options, 1, "measured", BytesPerToken(8))[0].output_len, 77);
}

TEST_F(ConversationPromptsTest, ShareGptLeavesOutWhatIsTooShortOrTooLong) {
  json list = json::parse(ShareGpt(10, 1));
  const auto add = [&](const std::string& prompt, const std::string& answer) {
    list.push_back({{"conversations", {{{"value", prompt}}, {{"value", answer}}}}});
  };
  std::string words_1025, words_1500;
  for (int i = 0; i < 1500; ++i) (i < 1025 ? words_1025 : words_1500) += "w ";
  words_1500 = words_1025 + words_1500;
  add("w w w", "a b c d");                // prompt of 3
  add("w w w w", "a b c");                // answer of 3
  add(words_1025, "a b c d");             // prompt above 1024
  add(words_1025.substr(2), words_1025);  // sum of 2049
  ServingOptions options = Options("sharegpt", list.dump());
  options.oversample = false;
  EXPECT_EQ(Plan(options, 1, "measured", BytesPerToken(8)).size(), 1u);
  const auto two = PlanPrompts(options, "measured", 2, {}, BytesPerToken(8));
  ASSERT_FALSE(two.has_value());
  EXPECT_THAT(two.error().message, HasSubstr("1 usable prompts, 2 are needed"));
}

TEST_F(ConversationPromptsTest, TooFewAreRepeatedAndTheRecordSaysSo) {
  const auto planned =
      PlanPrompts(Options("custom", "{\"prompt\": \"a\"}\n{\"prompt\": \"b\"}\n"), "measured", 5, {}, kNone);
  ASSERT_TRUE(planned.has_value());
  EXPECT_EQ(planned->prompts.size(), 5u);
  EXPECT_THAT(planned->note, HasSubstr("3 of 5 prompts repeated"));
}

std::string Lines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += "{\"prompt\": \"p" + std::to_string(i) + "\"}\n";
  return lines;
}

std::set<std::string> Texts(const std::vector<PlannedPrompt>& prompts) {
  std::set<std::string> texts;
  for (const PlannedPrompt& prompt : prompts) texts.insert(prompt.text);
  return texts;
}

TEST_F(ConversationPromptsTest, WarmUpTakesWhatIsNotMeasured) {
  ServingOptions options = Options("custom", Lines(20));
  options.num_prompts = 10;
  std::set<std::string> seen = Texts(Plan(options, 10));
  seen.merge(Texts(Plan(options, 10, "warm_up")));
  EXPECT_EQ(seen.size(), 20u);
}

TEST_F(ConversationPromptsTest, AWarmUpLongerThanTheRestRepeatsItAndNothingMeasured) {
  for (const bool sharegpt : {false, true}) {
    ServingOptions options = sharegpt ? Options("sharegpt", ShareGpt(10, 20)) : Options("custom", Lines(20));
    options.num_prompts = 15;
    const std::set<std::string> measured = Texts(Plan(options, 15, "measured", BytesPerToken(8)));
    const auto warm_up = PlanPrompts(options, "warm_up", 12, {}, BytesPerToken(8));
    ASSERT_TRUE(warm_up.has_value());
    EXPECT_EQ(warm_up->prompts.size(), 12u);
    EXPECT_EQ(Texts(warm_up->prompts).size(), 5u);
    for (const std::string& text : Texts(warm_up->prompts)) EXPECT_EQ(measured.count(text), 0u) << text;
    EXPECT_EQ(warm_up->note, "7 of 12 warm-up prompts repeated");
  }
}

TEST_F(ConversationPromptsTest, AFileThatIsMeasuredWholeWarmsUpWithTheSameAndSaysSo) {
  ServingOptions options = Options("custom", Lines(3));
  options.num_prompts = 8;
  const auto warm_up = PlanPrompts(options, "warm_up", 4, {}, kNone);
  ASSERT_TRUE(warm_up.has_value());
  EXPECT_EQ(warm_up->prompts.size(), 4u);
  EXPECT_EQ(warm_up->note, "warm-up of measured prompts, as the file has no others");
}

// Three benchmarks of 6 against one server: no prompt twice while the file lasts.
TEST_F(ConversationPromptsTest, EarlierBenchmarksPromptsComeAgainOnlyWhenTheFileIsUsedUp) {
  ServingOptions options = Options("custom", Lines(20));
  options.num_prompts = 6;
  std::set<std::string> seen;
  for (int benchmark = 0; benchmark < 3; ++benchmark) {
    options.skip_prompts = 6 * benchmark;
    const auto planned = PlanPrompts(options, "measured", 6, {}, kNone);
    ASSERT_TRUE(planned.has_value());
    EXPECT_THAT(planned->note, ::testing::Not(HasSubstr("seen before")));
    seen.merge(Texts(planned->prompts));
    EXPECT_EQ(seen.size(), static_cast<size_t>(6 * (benchmark + 1)));
  }
  for (const std::string& text : Texts(Plan(options, 2, "warm_up"))) EXPECT_EQ(seen.count(text), 0u);
  options.skip_prompts = 18;  // two are left
  const auto planned = PlanPrompts(options, "measured", 6, {}, kNone);
  ASSERT_TRUE(planned.has_value());
  EXPECT_EQ(Texts(planned->prompts).size(), 6u);
  EXPECT_THAT(planned->note, HasSubstr("4 of 6 prompts seen before"));
  seen.merge(Texts(planned->prompts));
  EXPECT_EQ(seen.size(), 20u);
  options.fresh_prompts = false;
  const std::set<std::string> same = Texts(Plan(options, 6));
  options.skip_prompts = 0;
  EXPECT_EQ(Texts(Plan(options, 6)), same);
}

TEST_F(ConversationPromptsTest, SeedShufflesAndTheFilesOrderCanBeKept) {
  std::string lines;
  for (int i = 0; i < 20; ++i)
    lines += "{\"prompt\": \"p" + std::to_string(i) + "\", \"output_tokens\": 3}\n";
  ServingOptions options = Options("custom", lines);
  const auto texts = [](const std::vector<PlannedPrompt>& prompts) {
    std::string all;
    for (const PlannedPrompt& prompt : prompts) all += prompt.text + " ";
    return all;
  };
  const std::string shuffled = texts(Plan(options, 20));
  EXPECT_EQ(shuffled, texts(Plan(options, 20)));
  options.seed = 1;
  EXPECT_NE(shuffled, texts(Plan(options, 20)));
  options.shuffle = false;
  EXPECT_EQ(texts(Plan(options, 3)), "p0 p1 p2 ");
  EXPECT_EQ(Plan(options, 1)[0].output_len, 3) << "the line's own";
}

TEST(RequestBody, IsAStreamedCompletionOfTokenIds) {
  ServingOptions options = Random();
  options.model = "m";
  const json body = json::parse(*RequestBody(options, {{1, 2, 3}, "", 3, 9}));
  EXPECT_EQ(body["prompt"], (json{1, 2, 3}));
  EXPECT_EQ(body["max_tokens"], 9);
  EXPECT_EQ(body["model"], "m");
  EXPECT_EQ(body["ignore_eos"], true);
  EXPECT_EQ(body["stream"], true);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  EXPECT_EQ(body["temperature"], 0);
}

TEST(RequestBody, AsksForContinuousUsageAndTakesAPatch) {
  ServingOptions options = Random();
  options.api = "chat";
  options.continuous_usage = true;
  options.body_patch =
      R"({"temperature": null, "top_k": 5, "chat_template_kwargs": {"enable_thinking": false}})";
  const json body = json::parse(*RequestBody(options, {{}, "hi", 1, 9}));
  EXPECT_EQ(body["messages"], (json::array({{{"role", "user"}, {"content", "hi"}}})));
  EXPECT_EQ(body["stream_options"]["continuous_usage_stats"], true);
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_EQ(body["top_k"], 5);
  EXPECT_EQ(body["chat_template_kwargs"]["enable_thinking"], false);
  options.body_patch = "[1]";
  EXPECT_THAT(RequestBody(options, {{}, "hi", 1, 9}).error().message, HasSubstr("extra body"));
}

}  // namespace
}  // namespace assay::evals
