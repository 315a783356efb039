#include "engine/cache/cache_plan.h"

#include <gtest/gtest.h>

#include "engine/cache/kv_blocks.h"
#include "engine/model/device.h"

namespace assay::engine {
namespace {

// A layer takes 2 * 2 heads * 32 * 4 bytes = 512 bytes a token, 8 KiB a block of 16.
ModelConfig Config(const std::vector<bool>& sliding = {true, false, true, false}) {
  ModelConfig config{};
  config.num_hidden_layers = static_cast<int64_t>(sliding.size());
  config.sliding = sliding;
  config.sliding_window = 128;
  config.num_key_value_heads = 2;
  config.head_dim = 32;
  config.max_position_embeddings = 4096;
  return config;
}

CacheWish Wish(int64_t blocks, int64_t memory_mb, int64_t max_model_len, int64_t seats) {
  CacheWish wish;
  wish.blocks = blocks;
  wish.memory_mb = memory_mb;
  wish.max_model_len = max_model_len;
  wish.max_num_seqs = seats;
  wish.prefix_caching = false;
  return wish;
}

TEST(KvBytesPerToken, CountsTheLayersOfAGroup) {
  // gpt-oss-20b in float32: 12 layers of each kind, 8 heads of 64.
  ModelConfig config{};
  config.num_key_value_heads = 8;
  config.head_dim = 64;
  for (int i = 0; i < 24; ++i) config.sliding.push_back(i % 2 == 0);
  EXPECT_EQ(KvBytesPerToken(kFullLayers, config, 4), 12 * 4096);
  EXPECT_EQ(KvBytesPerToken(kSlidingLayers, config, 2), 12 * 2048);
}

TEST(PlanCache, ChoosesBlocksAndLength) {
  // Each group has 2 layers: 16 KiB a block. A seat needs 8 + 2 sliding blocks, a step of 512 tokens 32 more.
  const std::vector<bool> both{true, false, true, false}, full{false, false}, sliding{true, true};
  const struct {
    const char* name;
    CacheWish wish;
    std::vector<bool> layers;
    int64_t blocks, sliding_blocks, max_model_len, bytes;
  } rows[] = {
      {"as many as the seats can fill", Wish(0, 0, 0, 2), both, 512, 52, 4096, (512 + 52) * 16384},
      {"sliding layers leave the memory to the others", Wish(0, 4, 0, 2), both, 204, 52, 3264, 256 * 16384},
      {"memory for less than the seats", Wish(0, 1, 0, 64), both, 32, 32, 512, 64 * 16384},
      {"a count", Wish(7, 0, 0, 64), both, 7, 7, 112, 14 * 16384},
      {"shorter requests need less", Wish(0, 0, 100, 2), both, 14, 14, 100, 28 * 16384},
      {"full layers only", Wish(0, 1, 0, 64), full, 64, 64, 1024, 64 * 16384},
      {"sliding layers only", Wish(0, 1, 0, 64), sliding, 64, 64, 4096, 64 * 16384},
      {"sliding layers only, few seats", Wish(0, 1, 0, 1), sliding, 42, 42, 4096, 42 * 16384},
      {"sliding layers only, less than a window", Wish(8, 0, 0, 1), sliding, 8, 8, 128, 8 * 16384}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto plan = PlanCache(row.wish, Config(row.layers));
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->num_blocks, row.blocks);
    EXPECT_EQ(plan->num_sliding_blocks, row.sliding_blocks);
    EXPECT_EQ(plan->max_model_len, row.max_model_len);
    EXPECT_EQ(plan->bytes, row.bytes);
  }
}

TEST(PlanCache, AnFp8CacheOfAGpuHoldsTwiceTheBlocks) {
  const struct {
    Device device;
    bool fp8;
    int64_t bytes, blocks;
  } rows[] = {{Device::kCpu, false, 4, 32},
              {Device::kCpu, true, 4, 32},
              {Device::kGpu, false, 2, 64},
              {Device::kGpu, true, 1, 128}};
  for (const auto& row : rows) {
    ModelConfig config = Config();
    config.quantization.fp8_kv_cache = row.fp8;
    CacheWish wish = Wish(0, 1, 0, 64);
    wish.element_bytes = KvElementBytes(config, row.device);
    EXPECT_EQ(wish.element_bytes, row.bytes);
    EXPECT_EQ(PlanCache(wish, config)->num_blocks, row.blocks);
  }
}

TEST(PlanCache, APrefixCacheKeepsTwiceAsManySlidingBlocks) {
  CacheWish wish = Wish(0, 0, 0, 2);
  wish.prefix_caching = true;
  EXPECT_EQ(PlanCache(wish, Config())->num_sliding_blocks, 104);
}

// What is planned holds the longest request by itself.
TEST(PlanCache, ThePlannedLengthFits) {
  for (const std::vector<bool>& layers : std::vector<std::vector<bool>>{{true, false}, {true}, {false}}) {
    for (const int64_t blocks : {1, 2, 8, 9, 10, 100, 1000}) {
      for (const int64_t seats : {1, 3}) {
        CacheWish wish = Wish(blocks, 0, 0, seats);
        wish.max_num_batched_tokens = 1 + blocks % 7;
        const ModelConfig config = Config(layers);
        const auto plan = PlanCache(wish, config);
        ASSERT_TRUE(plan);
        KvBlocksOptions options;
        if (LayersOf(kFullLayers, config) > 0) options.num_blocks[kFullLayers] = plan->num_blocks;
        if (LayersOf(kSlidingLayers, config) > 0)
          options.num_blocks[kSlidingLayers] = plan->num_sliding_blocks;
        EXPECT_GE(KvBlocks(options).Longest(), plan->max_model_len) << blocks << " " << layers.size();
      }
    }
  }
}

TEST(PlanCache, RefusesALengthThatCannotFit) {
  CacheWish large_blocks = Wish(0, 1, 0, 64);
  large_blocks.block_size = 1024;
  const struct {
    const char* name;
    CacheWish wish;
    const char* says;
  } rows[] = {
      {"beyond the model", Wish(0, 0, 5000, 64), "--max-model-len 5000: the model reaches 4096"},
      {"beyond the cache", Wish(10, 0, 161, 64), "needs 11 KV blocks (1 MB) and the cache has 10 (1 MB)"},
      {"beyond the memory", Wish(0, 1, 4096, 64),
       "needs 256 KV blocks (8 MB) and the cache has 32 (1 MB), which hold 512 tokens"},
      {"with the arithmetic", Wish(0, 1, 4096, 64),
       "a block of 16 tokens takes 16384 bytes in the layers that see everything and 16384 in"},
      {"not even a block", large_blocks,
       "--kv-cache-memory-mb 1: a block of 1024 tokens takes 1048576 bytes"}};
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
