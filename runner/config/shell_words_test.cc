#include "runner/config/shell_words.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

using Words = std::vector<std::string>;

// Expected values are those of Python's shlex.split, which vLLM's evals use.
TEST(ShellWords, AreThoseOfPythonsShlex) {
  const std::vector<std::pair<const char*, Words>> cases = {
      {"", {}},
      {" \t\n ", {}},
      {"--hf-overrides '{\"a\": 1}' --moe-backend=x", {"--hf-overrides", "{\"a\": 1}", "--moe-backend=x"}},
      {"--tensor-parallel-size 2\n--enforce-eager\n", {"--tensor-parallel-size", "2", "--enforce-eager"}},
      {"a\"b c\"d ''", {"ab cd", ""}},
      {"\"a\\\"b\\\\c\\d\"", {"a\"b\\c\\d"}},
      {"'a\\b'", {"a\\b"}},
      {"a\\ b \\'c", {"a b", "'c"}},
      {"a # b", {"a", "#", "b"}},
      {"--x=\"{\\\"k\\\": [1, 2]}\"", {"--x={\"k\": [1, 2]}"}},
  };
  for (const auto& [text, expected] : cases) {
    const auto words = ShellWords(text);
    ASSERT_TRUE(words) << text;
    EXPECT_EQ(*words, expected) << text;
  }
}

TEST(ShellWords, WhatNeverClosesIsRefused) {
  for (const char* text : {"--x '{", "--x \"a", "--x \"a\\\"", "a\\"}) EXPECT_FALSE(ShellWords(text)) << text;
  EXPECT_EQ(ShellWords("--x '{").error().message, "a ' opens and never closes");
}

}  // namespace
}  // namespace assay::runner
