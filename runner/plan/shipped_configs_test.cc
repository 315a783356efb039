#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "runner/plan/config_files.h"
#include "runner/plan/plan.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

Path Configs() {
  return Path(ASSAY_SOURCE_DIR) / "configs";
}

TEST(ShippedConfigs, AllAreValid) {
  const auto checks = ValidatePaths({Configs()});
  ASSERT_TRUE(checks) << checks.error().message;
  for (const FileCheck& check : *checks) EXPECT_TRUE(check.ok) << check.text;
}

TEST(ShippedConfigs, AllPlanWithEverySuite) {
  for (const char* suite : {"smoke", "accuracy", "serving", "full"}) {
    const auto cells = MakePlan({Configs()}, suite);
    ASSERT_TRUE(cells) << cells.error().message;
    EXPECT_GE(cells->size(), 25u);
    std::set<std::string> keys;
    for (const Cell& cell : *cells) {
      EXPECT_LE(cell.key.size(), 64u);
      EXPECT_EQ(cell.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.-"), std::string::npos)
          << cell.key;
      EXPECT_TRUE(keys.insert(cell.key).second) << cell.key;
      EXPECT_NE(DescribePlan({cell}).find(cell.key), std::string::npos);
    }
  }
}

TEST(ShippedConfigs, TheirResolvedFormReadsBackTheSame) {
  testing::TempDir folder;
  const auto cells = MakePlan({Configs()}, std::nullopt);
  ASSERT_TRUE(cells) << cells.error().message;
  for (const Cell& cell : *cells) {
    const std::string yaml = ToYaml(cell.config);
    ASSERT_TRUE(WriteFileAtomic(folder / "c.yaml", yaml));
    const auto again = LoadConfig(folder / "c.yaml");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(ToYaml(*again), yaml);
    EXPECT_EQ(ConfigHash(*again), cell.config_hash) << cell.key;
  }
}

TEST(ShippedConfigs, GptOssIsHeldToTheThresholdAndShapesOfItsOrigin) {
  const auto cells = MakePlan({Configs()}, std::nullopt);
  ASSERT_TRUE(cells);
  for (const Cell& cell : *cells) {
    if (cell.key.find("gpt-oss") == std::string::npos || cell.config.hardware == "cpu") continue;
    const Config& config = cell.config;
    ASSERT_TRUE(config.gate.threshold && config.evals.gpqa) << cell.key;
    EXPECT_EQ(config.gate.threshold->threshold, 0.568) << cell.key;
    EXPECT_EQ(config.gate.threshold->tolerance, 0.05) << cell.key;
    EXPECT_EQ(config.gate.threshold->kind, gate::ToleranceKind::kAbsolute) << cell.key;
    EXPECT_EQ(config.evals.gpqa->repeats, 8) << cell.key;
    EXPECT_EQ(config.evals.gpqa->concurrency, 200) << cell.key;
    EXPECT_EQ(config.evals.gpqa->reasoning_effort, "low") << cell.key;
    const bool fused = config.engine.kind == EngineKind::kBundled && config.engine.moe_backend == "fused";
    EXPECT_EQ(config.engine.tensor_parallel_size, fused ? 1 : 2) << cell.key;  // which has it on one GPU only
    ASSERT_EQ(config.evals.serving.size(), 2u) << cell.key;
    for (const auto& shape : config.evals.serving) {
      EXPECT_EQ(shape.num_prompts, 512);
      EXPECT_EQ(shape.request_rate, 10);
      EXPECT_TRUE(shape.ignore_eos);
      EXPECT_EQ(shape.input_len, shape.output_len);
    }
    EXPECT_EQ(config.evals.serving[0].input_len, 1024);
    EXPECT_EQ(config.evals.serving[1].input_len, 8192);
  }
}

TEST(ShippedConfigs, ThoseForAmdNameTheEngineTheyNeed) {
  const auto cells =
      MakePlan({Configs() / "gfx90a", Configs() / "gfx942", Configs() / "gfx950"}, std::nullopt);
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_EQ(cells->size(), 8u);
  for (const Cell& cell : *cells) {
    const std::string text = ReadFile(cell.config.file).value_or("");
    const std::string build = "-DASSAY_GPU=hip -DASSAY_GPU_ARCHITECTURES=" + cell.config.hardware + ".";
    EXPECT_NE(text.find(build), std::string::npos) << cell.key;
  }
}

std::string CommandOf(const char* file) {
  const auto cells = MakePlan({Configs() / file}, std::nullopt);
  EXPECT_TRUE(cells) << cells.error().message;
  return cells ? ShellJoin(cells->front().launch.argv) : "";
}

TEST(ShippedConfigs, CommandLinesAreThoseOfTheServers) {
  EXPECT_EQ(
      CommandOf("vllm/gfx950/quark-mxfp4-bf16-aiter.yaml"),
      "vllm serve amd/gpt-oss-20b-w-mxfp4-a-bf16 --host 127.0.0.1 --port '{port}' --tensor-parallel-size 2 "
      "--trust-remote-code --enforce-eager --disable-uvicorn-access-log --seed 0 --attention-backend "
      "ROCM_AITER_UNIFIED_ATTN --moe-backend aiter --tokenizer openai/gpt-oss-20b");
  EXPECT_EQ(CommandOf("sglang/gpt-oss-20b.yaml"),
            "python3 -m sglang.launch_server --model-path openai/gpt-oss-20b --host 127.0.0.1 --port "
            "'{port}' --tp 2 "
            "--random-seed 0");
  const std::string tiny = CommandOf("cpu/tiny-moe.yaml");
  EXPECT_NE(tiny.find(" --tensor-parallel-size 2 "), std::string::npos) << tiny;
  EXPECT_NE(tiny.find(" --tokenizer "), std::string::npos) << tiny;
}

}  // namespace
}  // namespace assay::runner
