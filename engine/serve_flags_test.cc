#include "engine/serve_flags.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace assay::engine {
namespace {

TEST(ServeFlags, DefaultsAreThoseOfTheHelp) {
  const auto flags = ParseServeFlags({"--model", "m"});
  ASSERT_TRUE(flags);
  const std::string help = kServeHelp;
  const struct {
    const char* flag;
    std::string value;
  } rows[] = {{"--port N", std::to_string(flags->port)},
              {"--host ADDRESS", flags->host},
              {"--tensor-parallel-size N", std::to_string(flags->tensor_parallel_size)},
              {"--device NAME", flags->device},
              {"--moe-backend NAME", flags->moe_backend},
              {"--threads N", std::to_string(flags->threads)},
              {"--max-num-seqs N", std::to_string(flags->max_num_seqs)},
              {"--max-num-batched-tokens N", std::to_string(flags->max_num_batched_tokens)},
              {"--block-size N", std::to_string(flags->block_size)},
              {"--seed N", std::to_string(flags->seed)},
              {"--reasoning-effort LEVEL", flags->reasoning_effort},
              {"--metrics-prefix NAME", flags->metrics_prefix},
              {"--enable-prefix-caching", flags->enable_prefix_caching ? "on" : "off"},
              {"--enforce-eager", flags->enforce_eager ? "eager" : "padded"}};
  for (const auto& row : rows) {
    const size_t at = help.find(row.flag);
    ASSERT_NE(at, std::string::npos) << row.flag;
    const std::string line = help.substr(at, help.find('\n', at) - at);
    EXPECT_TRUE(line.ends_with("(" + row.value + ")")) << line;
  }
  for (const std::string& line : SplitLines(help)) EXPECT_LE(line.size(), 100u) << line;
}

TEST(ServeFlags, ReadsEverySpellingOfTensorParallelSize) {
  for (const std::vector<std::string>& spelling :
       std::vector<std::vector<std::string>>{{"--tensor-parallel-size", "2"},
                                             {"--tensor-parallel-size=2"},
                                             {"--tensor_parallel_size", "2"},
                                             {"--tensor_parallel_size=2"},
                                             {"-tp", "2"},
                                             {"-tp=2"}}) {
    std::vector<std::string> arguments{"--model", "m_with_underscores"};
    arguments.insert(arguments.end(), spelling.begin(), spelling.end());
    const auto flags = ParseServeFlags(arguments);
    ASSERT_TRUE(flags) << flags.error().message;
    EXPECT_EQ(flags->tensor_parallel_size, 2);
    EXPECT_EQ(flags->model, "m_with_underscores");
  }
}

TEST(ServeFlags, EagerCanBeSwitchedOff) {
  EXPECT_FALSE(ParseServeFlags({"--model", "m", "--no-enforce-eager"})->enforce_eager);
  EXPECT_TRUE(ParseServeFlags({"--model", "m", "--enforce-eager"})->enforce_eager);
}

TEST(ServeFlags, ThePrefixCacheCanBeSwitchedOff) {
  EXPECT_FALSE(ParseServeFlags({"--model", "m", "--no-enable-prefix-caching"})->enable_prefix_caching);
  EXPECT_TRUE(ParseServeFlags({"--model", "m", "--enable_prefix_caching"})->enable_prefix_caching);
}

TEST(ServeFlags, AnswersAMistakeWithTheFlagAndTheRemedy) {
  const struct {
    const char* name;
    std::vector<std::string> arguments;
    const char* says;
  } rows[] = {
      {"no model", {}, "bad flag: --model FOLDER is missing"},
      {"unknown", {"--modle", "m"}, "bad flag: --modle: unknown; did you mean --model?"},
      {"unknown, nothing near", {"--model", "m", "--zzzzzzzz"}, "--zzzzzzzz: unknown; assay-engine"},
      {"a stray word", {"--model", "m", "word"}, "bad flag: word: unknown"},
      {"not a number", {"--model", "m", "--port", "x"}, "bad flag: Could not convert: --port = x"},
      {"no value", {"--model"}, "bad flag: --model"},
      {"port out of range", {"--model", "m", "--port", "70000"}, "--port 70000: must be 0 to 65535"},
      {"device", {"--model", "m", "--device", "tpu"}, "--device tpu: must be one of cpu, gpu"},
      {"backend",
       {"--model", "m", "--moe-backend", "fast"},
       "--moe-backend fast: must be one of reference, grouped, fused"},
      {"effort", {"--model", "m", "--reasoning-effort", "none"}, "must be one of low, medium, high"},
      {"date", {"--model", "m", "--current-date", "2026-02-30"}, "must be YYYY-MM-DD or today"},
      {"date in words", {"--model", "m", "--current-date", "yesterday"}, "must be YYYY-MM-DD or today"},
      {"two cache sizes",
       {"--model", "m", "--kv-cache-blocks", "1", "--kv-cache-memory-mb", "1"},
       "give one of them"},
      {"more seats than tokens",
       {"--model", "m", "--max-num-seqs", "600"},
       "--max-num-batched-tokens is 512"},
      {"metrics prefix", {"--model", "m", "--metrics-prefix", "a-b"}, "--metrics-prefix a-b"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto flags = ParseServeFlags(row.arguments);
    ASSERT_FALSE(flags);
    EXPECT_EQ(flags.error().kind, ErrorKind::kUsage);
    EXPECT_TRUE(StartsWith(flags.error().message, "bad flag: ")) << flags.error().message;
    EXPECT_NE(flags.error().message.find(row.says), std::string::npos) << flags.error().message;
  }
}

TEST(ServeFlags, TodayBecomesADate) {
  const auto flags = ParseServeFlags({"--model", "m", "--current-date", "today"});
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->current_date.size(), 10u);
  EXPECT_TRUE(ParseServeFlags({"--model", "m", "--current-date", flags->current_date}));
}

}  // namespace
}  // namespace assay::engine
