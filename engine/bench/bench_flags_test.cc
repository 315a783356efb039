#include "engine/bench/bench_flags.h"

#include <gtest/gtest.h>

namespace assay::engine {
namespace {

TEST(BenchFlags, ReadsListsAndModelFlags) {
  const auto flags = ParseBenchFlags({"--model", "m", "--streams=1,4", "--activations", "int8", "-tp", "2"});
  ASSERT_TRUE(flags) << flags.error().message;
  EXPECT_EQ(flags->streams, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(ToModelOptions(*flags).activations, Activations::kInt8);
  EXPECT_EQ(ToModelOptions(*flags).tensor_parallel_size, 2);
}

TEST(BenchFlags, EachMoeBackendHasItsName) {
  const struct {
    const char* name;
    MoeBackend backend;
  } rows[] = {{"reference", MoeBackend::kReference},
              {"grouped", MoeBackend::kGrouped},
              {"fused", MoeBackend::kFused}};
  for (const auto& row : rows) {
    const auto flags = ParseBenchFlags({"--model", "m", "--moe-backend", row.name});
    ASSERT_TRUE(flags) << flags.error().message;
    EXPECT_EQ(ToModelOptions(*flags).moe_backend, row.backend) << row.name;
  }
}

TEST(BenchFlags, SaysWhatIsWrong) {
  const struct {
    std::vector<std::string> arguments;
    const char* says;
  } rows[] = {{{}, "--model FOLDER is missing"},
              {{"--model", "m", "--streams", "0"}, "--streams 0: must be 1 to 4096"},
              {{"--model", "m", "--generate", "1"}, "--generate 1: must be 2 to"},
              {{"--model", "m", "--dense-dtype", "fp4"}, "--dense-dtype fp4: must be one of bf16, int8"},
              {{"--model", "m", "--moe-backend", "reference", "--activations", "int8"}, "reference backend"},
              {{"--model", "m", "--stream", "2"}, "did you mean --streams?"}};
  for (const auto& row : rows) {
    const auto flags = ParseBenchFlags(row.arguments);
    ASSERT_FALSE(flags) << row.says;
    EXPECT_NE(flags.error().message.find(row.says), std::string::npos) << flags.error().message;
  }
}

}  // namespace
}  // namespace assay::engine
