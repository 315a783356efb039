// Files that vLLM and perf-eval wrote, run as they are against a program called vllm.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "tests/end_to_end/assay_test.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// As many questions as GPQA diamond has. Over 8 repeats of Random(0) the letter A is right 414 times of 1584,
// so that a server which always answers A scores 0.2614.
std::string Diamond() {
  std::string csv =
      "Record ID,Question,Correct Answer,Incorrect Answer 1,Incorrect Answer 2,Incorrect Answer 3,High-level "
      "domain,Writer's Difficulty Estimate\n";
  for (int i = 0; i < 198; ++i) {
    csv +=
        fmt::format("rec{:03},What is {} + 1?,{},{},{},{},Physics,Easy\n", i, i, i + 1, i + 2, i + 3, i + 4);
  }
  return csv;
}

class FilesOfOthersTest : public AssayTest {
 protected:
  FilesOfOthersTest() {
    for (const char* folder : {"bin", "data/gpqa", "configs", "w"}) fs::create_directories(folder_ / folder);
    Write("data/gpqa/gpqa_diamond.csv", Diamond());
    const Path vllm = Write("bin/vllm", fmt::format(R"(#!/bin/sh
# vllm serve MODEL [flags]: what it was given goes into files; then the scripted server in its place.
printf '%s\n' "$@" > {0}/arguments
env > {0}/environment
model=$2; served=$2
while [ $# -gt 0 ]; do
  case "$1" in
    --port) port=$2 ;;
    --served-model-name) served=$2 ;;
  esac
  shift
done
exec {1}/assay-scripted-server --model "$served" --port "$port" --answer 'Answer: A' --token-interval-ms 0
)",
                                                    folder_.path().string(), ASSAY_BIN_DIR));
    fs::permissions(vllm, fs::perms::owner_all);
    // Programs inherit both.
    ::setenv("PATH", ((folder_ / "bin").string() + ":" + path_).c_str(), 1);
    ::setenv("ASSAY_DATA", (folder_ / "data").c_str(), 1);
  }
  ~FilesOfOthersTest() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("ASSAY_DATA");
  }

  std::string VllmEval(const std::string& threshold) const {
    return fmt::format(
        "model_name: {}\n"
        "metric_threshold: {}\n"
        "server_args: >-\n"
        "  -tp=2 --moe_backend=aiter --tokenizer openai/gpt-oss-20b\n"
        "  --hf-overrides '{{\"a\": 1}}'\n"
        "env:\n"
        "  VLLM_ROCM_USE_AITER: on",
        model_, threshold);
  }

  const std::string path_ = std::getenv("PATH");

  std::string FileText(const char* name) const { return ReadFile(folder_ / name).value_or(""); }
};

// --hardware cpu: the size of the cell's machine must not decide whether this test can run.
TEST_F(FilesOfOthersTest, AVllmEvalPassesFromItsThresholdLessFivePoints) {
  ASSERT_EQ(Run({"run", Write("pass.yaml", VllmEval("0.311")), "--hardware", "cpu"}), runner::kExitPass)
      << Err() << Out();
  const record::RunRecord record = Record();
  const record::CellRecord& cell = record.cells.at(0);
  EXPECT_EQ(cell.key, "cpu.pass");
  EXPECT_EQ(cell.server.tensor_parallel_size, 2);
  EXPECT_EQ(cell.server.tokenizer, "openai/gpt-oss-20b");
  EXPECT_EQ(cell.server.moe_backend, "aiter");
  const record::AccuracyCounts counts = record::Count(cell.accuracy.value());
  EXPECT_EQ(counts.samples, 1584);
  EXPECT_EQ(counts.correct, 414);
  EXPECT_EQ(cell.accuracy->grader, "compat");
  EXPECT_EQ(cell.accuracy->api, "responses");
  EXPECT_TRUE(cell.serving.empty());

  std::vector<std::string> arguments = SplitLines(FileText("arguments"));
  const auto port = std::find(arguments.begin(), arguments.end(), "--port");
  ASSERT_NE(port, arguments.end());
  *(port + 1) = "PORT";
  EXPECT_EQ(
      Join(arguments, "|"),
      "serve|" + model_ +
          "|-tp=2|--moe_backend=aiter|--tokenizer|openai/gpt-oss-20b|--hf-overrides|{\"a\": 1}|"
          "--trust-remote-code|--enforce-eager|--disable-uvicorn-access-log|--host|127.0.0.1|--port|PORT|"
          "--seed|0");
  const std::string environment = FileText("environment");
  EXPECT_NE(environment.find("VLLM_ROCM_USE_AITER=on\n"), std::string::npos);
  EXPECT_NE(environment.find("VLLM_WORKER_MULTIPROC_METHOD=spawn\n"), std::string::npos);
}

TEST_F(FilesOfOthersTest, AListOfVllmEvalsRunsInTurnAndFailsBelowTheThreshold) {
  Write("configs/a.yaml", VllmEval("0.311"));
  Write("configs/b.yaml", VllmEval("0.568"));
  const std::string list = Write("configs/models-here.txt", "# two\r\na.yaml  # passes\r\nb.yaml");
  EXPECT_EQ(Run({"run", list, "--hardware", "cpu"}), runner::kExitFail) << Err() << Out();
  ASSERT_EQ(Record().cells.size(), 2u);
  EXPECT_EQ(Record().cells[1].key, "cpu.b");
  EXPECT_NE(Out().find("at least 0.5180"), std::string::npos) << Out();
}

TEST_F(FilesOfOthersTest, AListWithAMissingFileLaunchesNothing) {
  Write("configs/a.yaml", VllmEval("0.311"));
  const std::string list = Write("configs/models-here.txt", "a.yaml\nb.yaml\n");
  EXPECT_EQ(Run({"run", list, "--hardware", "cpu"}), runner::kExitUsage);
  EXPECT_NE(Err().find("models-here.txt:2:1: "), std::string::npos) << Err();
  EXPECT_EQ(Run({"validate", list}), runner::kExitUsage);
  EXPECT_FALSE(Launched());
}

TEST_F(FilesOfOthersTest, AWorkloadWhoseGpuIsNotHereIsRefusedAndValidAllTheSame) {
  Write("gpu_profiles.yaml", "MI355X: {env: {HIP_FORCE_DEV_KERNARG: 1}}\n");
  const std::string workload = Write("w/w.yaml", fmt::format("name: w\ngpu: MI355X\nnum_gpus: 2\n"
                                                             "vllm: {{model: {}, serve_args: -tp 2}}\n"
                                                             "vllm_bench: {{configs: [{{name: 1k1k}}]}}\n",
                                                             model_));
  EXPECT_EQ(Run({"validate", folder_.path().string() + "/w"}), runner::kExitPass) << Out();
  EXPECT_NE(Out().find("perf-eval workload gfx950.w: 1 serving shape"), std::string::npos) << Out();
  EXPECT_EQ(Run({"run", workload, "--dry-run"}), runner::kExitPass) << Err();
  EXPECT_NE(Out().find("command   HIP_FORCE_DEV_KERNARG=1 vllm serve " + model_ + " -tp 2 --host"),
            std::string::npos)
      << Out();
  EXPECT_EQ(Run({"run", workload}), runner::kExitInvalid) << Err();
  EXPECT_FALSE(Launched());
}

}  // namespace
}  // namespace assay
