// Files of vLLM and perf-eval, planned as `run` would.

#include "base/text.h"
#include "runner/config/config_test_support.h"
#include "runner/plan/config_files.h"
#include "runner/plan/machine.h"
#include "runner/plan/plan.h"
#include "runner/plan/resolve.h"

namespace assay::runner {
namespace {

Path Data(const std::string& name) {
  return Path(ASSAY_SOURCE_DIR) / "runner/config/testdata" / name;
}

Surroundings On(const std::string& hardware) {
  Surroundings here = Surroundings::OfThisProcess();
  here.hardware = hardware;
  return here;
}

TEST(PlanOthers, AListOfVllmsBecomesCellsOfTheHardwareGiven) {
  const auto cells = MakePlan({Data("vllm/configs/models-gfx950.txt")}, std::nullopt, On("gfx950"));
  ASSERT_TRUE(cells) << cells.error().message;
  ASSERT_EQ(cells->size(), 4u);
  EXPECT_EQ((*cells)[1].key, "gfx950.gpt-oss-20b-rocm-quark-mxfp4-bf16-aiter");
  EXPECT_EQ(
      ShellJoin((*cells)[1].launch.argv),
      "vllm serve amd/gpt-oss-20b-w-mxfp4-a-bf16 --attention-backend ROCM_AITER_UNIFIED_ATTN --moe-backend "
      "aiter --tokenizer openai/gpt-oss-20b --tensor-parallel-size 2 --trust-remote-code --enforce-eager "
      "--disable-uvicorn-access-log --host 127.0.0.1 --port '{port}' --seed 0");
  EXPECT_EQ((*cells)[1].launch.model_id, "amd/gpt-oss-20b-w-mxfp4-a-bf16");
}

TEST(PlanOthers, HardwareIsThatOfTheMachineAndMustBeKnown) {
  const Path file = Data("vllm/configs/gpt-oss-20b-baseline.yaml");
  const auto here = MakePlan({file}, std::nullopt, On(""));
  ASSERT_TRUE(here) << here.error().message;
  EXPECT_NE(here->front().config.hardware, "");
  ConfigFolder folder;
  EXPECT_EQ(folder.ErrorOf(MakePlan({file}, std::nullopt, On("gfx95"))),
            "--hardware: must be one of cpu, h100, h200, b200, gfx90a, gfx942, gfx950, gfx1250, got gfx95");
}

TEST(PlanOthers, TheirResolvedFormReadsBackTheSame) {
  testing::TempDir folder;
  const auto cells = MakePlan({Data("vllm/configs"), Data("perf-eval")}, std::nullopt, On("b200"));
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_EQ(cells->size(), 18u);
  for (const Cell& cell : *cells) {
    EXPECT_LE(cell.key.size(), 64u);
    const std::string yaml = ToYaml(cell.config);
    ASSERT_TRUE(WriteFileAtomic(folder / "c.yaml", yaml));
    const auto again = LoadConfig(folder / "c.yaml");
    ASSERT_TRUE(again) << again.error().message << yaml;
    EXPECT_EQ(ToYaml(*again), yaml);
    EXPECT_EQ(ConfigHash(*again), cell.config_hash) << cell.key;
  }
}

TEST(PlanOthers, EveryRankOfADataParallelServerNeedsAGpu) {
  const auto cells = MakePlan({Data("vllm/configs/models-b200-deepep-v2.txt")}, std::nullopt, On("b200"));
  ASSERT_TRUE(cells) << cells.error().message;
  Machine machine;
  machine.gpus.resize(2);
  for (Gpu& gpu : machine.gpus) gpu.hardware = "b200";
  const Status status = Preflight(cells->front(), machine, On("b200"), Probe::OfThisMachine());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(status.error().message.find("8"), std::string::npos) << status.error().message;
}

TEST(PlanOthers, NotesAreInThePlanAndInTheAnswerOfValidate) {
  const Path file = Data("perf-eval/workloads/gpt-oss-120b_h200.yaml");
  const auto cells = MakePlan({file}, std::nullopt, On(""));
  ASSERT_TRUE(cells) << cells.error().message;
  EXPECT_NE(DescribePlan(*cells).find("\n  note      lm_eval is not run (gsm8k, "), std::string::npos);
  const auto checks = ValidatePaths({file, Data("perf-eval/gpu_profiles.yaml")});
  ASSERT_TRUE(checks) << checks.error().message;
  EXPECT_EQ(
      (*checks)[0].text.find("perf-eval workload h200.gpt-oss-120b_h200: 7 serving shapes\n      note: lm_"),
      0u)
      << (*checks)[0].text;
  EXPECT_EQ((*checks)[1].text, "GPU profiles of perf-eval (H200, MI355X)");
}

}  // namespace
}  // namespace assay::runner
