#include "engine/cache/cache_plan.h"

#include <gtest/gtest.h>

namespace assay::engine {
namespace {

// 2 * 4 layers * 2 heads * 32 * 4 bytes = 2 KiB a token, 32 KiB a block of 16.
ModelConfig Config() {
  ModelConfig config{};
  config.num_hidden_layers = 4;
  config.num_key_value_heads = 2;
  config.head_dim = 32;
  config.max_position_embeddings = 4096;
  return config;
}

TEST(PlanCache, ChoosesBlocksAndLength) {
  const struct {
    const char* name;
    CacheWish wish;
    int64_t blocks, max_model_len;
  } rows[] = {{"as many as the seats can fill", {16, 0, 0, 0, 2}, 512, 4096},
              {"bounded by the default memory", {16, 0, 0, 0, 1000}, 32768, 4096},
              {"bounded by memory", {16, 0, 1, 0, 64}, 32, 512},
              {"a count", {16, 7, 0, 0, 64}, 7, 112},
              {"shorter requests need less", {16, 0, 0, 100, 2}, 14, 100}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto plan = PlanCache(row.wish, Config());
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->num_blocks, row.blocks);
    EXPECT_EQ(plan->max_model_len, row.max_model_len);
    EXPECT_EQ(plan->bytes, row.blocks * 32768);
  }
}

TEST(PlanCache, RefusesALengthThatCannotFit) {
  const struct {
    const char* name;
    CacheWish wish;
    const char* says;
  } rows[] = {{"beyond the model", {16, 0, 0, 5000, 64}, "--max-model-len 5000: the model reaches 4096"},
              {"beyond the cache", {16, 10, 0, 161, 64}, "needs 11 KV blocks"},
              {"beyond the memory", {16, 0, 1, 4096, 64}, "needs 256 KV blocks (9 MB) and the cache has 32"},
              {"not even a block", {1024, 0, 1, 0, 64}, "--kv-cache-memory-mb 1: one block of 1024 tokens"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto plan = PlanCache(row.wish, Config());
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind, ErrorKind::kUsage);
    EXPECT_NE(plan.error().message.find(row.says), std::string::npos) << plan.error().message;
  }
}

}  // namespace
}  // namespace assay::engine
