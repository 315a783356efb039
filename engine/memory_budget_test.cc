#include "engine/memory_budget.h"

#include <gtest/gtest.h>

#include <fstream>

#include "testing/temp_dir.h"

namespace assay::engine {
namespace {

// A /proc and /sys as a kernel shows them.
struct Machine {
  testing::TempDir root;
  explicit Machine(int64_t available_kb) {
    Write("proc/meminfo",
          "MemTotal: 99999999 kB\nMemFree: 5 kB\nMemAvailable: " + std::to_string(available_kb) + " kB\n");
  }
  void Write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((root / file).parent_path());
    std::ofstream(root / file) << text;
  }
  MemoryLimit Limit() {
    const auto limit = AvailableMemory(root.path());
    EXPECT_TRUE(limit) << limit.error().message;
    return limit.value_or(MemoryLimit{});
  }
};

TEST(AvailableMemory, IsThatOfTheMachineWithoutAControlGroup) {
  Machine machine(2048);
  EXPECT_EQ(machine.Limit().bytes, 2 << 20);
  EXPECT_EQ(machine.Limit().whose, "the machine");
}

TEST(AvailableMemory, IsTheLeastOfAllGroupsAbove) {
  Machine machine(4096);
  machine.Write("proc/self/cgroup", "0::/a/b\n");
  machine.Write("sys/fs/cgroup/a/b/memory.max", "max\n");
  machine.Write("sys/fs/cgroup/a/b/memory.current", "100\n");
  machine.Write("sys/fs/cgroup/a/memory.max", "3000000\n");
  machine.Write("sys/fs/cgroup/a/memory.current", "1000000\n");
  EXPECT_EQ(machine.Limit().bytes, 2000000);
  EXPECT_EQ(machine.Limit().whose, "the control group /a");
}

TEST(AvailableMemory, CountsFilesThatCanBeDroppedAsLeft) {
  Machine machine(4096);
  machine.Write("proc/self/cgroup", "0::/\n");
  machine.Write("sys/fs/cgroup/memory.max", "3000000\n");
  machine.Write("sys/fs/cgroup/memory.current", "2500000\n");
  machine.Write("sys/fs/cgroup/memory.stat", "anon 5\nactive_file 7\ninactive_file 1000000\n");
  EXPECT_EQ(machine.Limit().bytes, 1500000);
}

TEST(AvailableMemory, KnowsVersion1) {
  Machine machine(4096);
  machine.Write("proc/self/cgroup", "12:cpu:/x\n4:memory:/x\n0::/\n");
  machine.Write("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1000000\n");
  machine.Write("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "400000\n");
  machine.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  machine.Write("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
  EXPECT_EQ(machine.Limit().bytes, 600000);
}

TEST(AvailableMemory, OfThisMachineIsSomething) {
  const auto limit = AvailableMemory();
  ASSERT_TRUE(limit) << limit.error().message;
  EXPECT_GT(limit->bytes, 1 << 20);
}

TEST(CheckMemory, RefusesWithTheArithmetic) {
  const MemoryNeed need{12'800'000'000, 1'000'000'000, 60'000'000};
  EXPECT_TRUE(CheckMemory(need, {13'860'000'000, "the machine"}));
  const Status cache = CheckMemory(need, {13'000'000'000, "the control group /a"});
  ASSERT_FALSE(cache);
  EXPECT_EQ(cache.error().message,
            "out of memory: needs 13.86 GB = weights 12.80 GB + KV cache 1.00 GB + scratch 0.06 GB, and the "
            "control "
            "group /a has 13.00 GB left; --kv-cache-memory-mb 133 would fit");
  const Status weights = CheckMemory(need, {5'000'000'000, "the machine"});
  ASSERT_FALSE(weights);
  EXPECT_NE(weights.error().message.find("the weights alone do not fit"), std::string::npos);
}

TEST(EstimateMemory, AddsTheWeightFilesAndTheRowsOfAStep) {
  const testing::TempDir folder;
  std::ofstream(folder / "a.safetensors") << std::string(3000, 'x');
  std::ofstream(folder / "b.safetensors") << std::string(500, 'x');
  std::ofstream(folder / "tokenizer.json") << std::string(700, 'x');
  ModelConfig config{};
  config.hidden_size = 10;
  config.num_attention_heads = 2;
  config.head_dim = 16;
  config.num_key_value_heads = 1;
  config.num_local_experts = 8;
  config.num_experts_per_tok = 2;
  config.intermediate_size = 32;
  config.vocab_size = 50;
  config.max_position_embeddings = 100;
  config.sliding = {false};
  ModelOptions options;
  options.max_batch_tokens = 4;
  options.max_requests = 3;
  const MemoryNeed need = EstimateMemory(folder.path(), config, options, 77);
  EXPECT_EQ(need.weights, 3500);
  EXPECT_EQ(need.cache, 77);
  // A row: float32 residual and normed (20), q (32), q k v (64), router (8); two bf16 terms of the wider
  // input (32) and of two experts' 32 values.
  EXPECT_EQ(need.scratch, 4 * (4 * (20 + 32 + 64 + 8) + 4 * 32 + 4 * 64) + 100 * 16 * 4 + 3 * 50 * 4);
}

}  // namespace
}  // namespace assay::engine
