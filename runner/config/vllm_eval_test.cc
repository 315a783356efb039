#include "runner/config/vllm_eval.h"

#include "runner/config/config_test_support.h"

namespace assay::runner {
namespace {

// A set in vLLM's format; what is expected of it comes from vLLM's own tests.
Path Data(const std::string& name) {
  return Path(ASSAY_SOURCE_DIR) / "runner/config/testdata/vllm/configs" / name;
}

Config Load(const std::string& name) {
  const auto config = LoadConfig(Data(name + ".yaml"));
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Config());
}

TEST(VllmEval, AsksAndJudgesAsVllmsTestDoes) {
  const Config config = Load("gpt-oss-20b-rocm-quark-mxfp4-bf16-aiter");
  EXPECT_EQ(config.name, "gpt-oss-20b-rocm-quark-mxfp4-bf16-aiter");
  EXPECT_EQ(config.hardware, "");
  EXPECT_EQ(config.engine.model, "amd/gpt-oss-20b-w-mxfp4-a-bf16");
  ASSERT_TRUE(config.evals.gpqa);
  EXPECT_EQ(config.evals.gpqa_variant, "diamond");
  EXPECT_EQ(config.evals.gpqa->api, "responses");
  EXPECT_EQ(config.evals.gpqa->prompt, "gpt-oss");
  EXPECT_EQ(config.evals.gpqa->repeats, 8);
  EXPECT_EQ(config.evals.gpqa->seed, 0u);
  EXPECT_EQ(config.evals.gpqa->temperature, 1);
  EXPECT_EQ(config.evals.gpqa->concurrency, 200);
  EXPECT_EQ(config.evals.gpqa->max_tokens, 131072);
  EXPECT_EQ(config.evals.gpqa->reasoning_effort, "low");
  EXPECT_EQ(config.evals.gpqa->grader, "compat");
  EXPECT_TRUE(config.evals.serving.empty());
  ASSERT_TRUE(config.gate.threshold);
  EXPECT_EQ(config.gate.threshold->threshold, 0.568);
  EXPECT_EQ(config.gate.threshold->tolerance, 0.05);
  EXPECT_EQ(config.gate.threshold->kind, gate::ToleranceKind::kAbsolute);
  EXPECT_EQ(config.gate.threshold->proof, gate::ThresholdProof::kTolerance);
  EXPECT_EQ(config.gate.baseline.kind, gate::BaselinePolicyKind::kNone);
}

struct Read {
  const char* file;
  int tensor_parallel_size;
  int gpus;
  const char* tokenizer;
  const char* moe_backend;
  double threshold;
  double ready_timeout_s;
};

TEST(VllmEval, ParallelSizeTokenizerAndMoeBackendAreReadInEverySpelling) {
  const std::vector<Read> table = {
      {"gpt-oss-20b-baseline", 2, 2, "", "", 0.568, 1800},
      {"gpt-oss-20b-flashinfer-mxfp4-bf16", 2, 2, "", "", 0.568, 1800},
      {"gpt-oss-20b-flashinfer-mxfp4-bf16-cutlass", 2, 2, "", "flashinfer_cutlass", 0.568, 1800},
      {"gpt-oss-20b-flashinfer-mxfp4-bf16-trtllm", 2, 2, "", "flashinfer_trtllm", 0.568, 1800},
      {"gpt-oss-20b-flashinfer-mxfp4-mxfp8-cutlass", 2, 2, "", "flashinfer_cutlass", 0.568, 1800},
      {"gpt-oss-20b-marlin", 2, 2, "", "marlin", 0.568, 1800},
      {"gpt-oss-20b-sm100-fi-mxfp4-mxfp8-trtllm-deepep-v2", 1, 8, "", "flashinfer_trtllm", 0.568, 1800},
      {"gpt-oss-20b-sm120", 1, 1, "", "", 0.568, 1800},
      {"gpt-oss-20b-xpu-baseline", 1, 1, "", "", 0.568, 1800},
      {"gpt-oss-20b-TQ-t4nc", 1, 1, "", "", 0.56, 1800},
      {"gpt-oss-20b-rocm", 2, 2, "", "", 0.568, 1800},
      {"gpt-oss-20b-rocm-baseline", 2, 2, "", "", 0.568, 1800},
      {"gpt-oss-20b-rocm-attn", 2, 2, "", "", 0.568, 2400},
      {"gpt-oss-20b-rocm-quark-mxfp4-bf16-aiter", 2, 2, "openai/gpt-oss-20b", "aiter", 0.568, 1800},
      {"gpt-oss-20b-rocm-quark-mxfp4-bf16-triton", 2, 2, "openai/gpt-oss-20b", "triton", 0.568, 1800},
      {"gpt-oss-20b-rocm-quark-mxfp4-fp8-triton", 2, 2, "", "", 0.568, 1800},
  };
  for (const Read& row : table) {
    const Config config = Load(row.file);
    EXPECT_EQ(config.engine.tensor_parallel_size, row.tensor_parallel_size) << row.file;
    EXPECT_EQ(config.engine.gpus.value_or(config.engine.tensor_parallel_size), row.gpus) << row.file;
    EXPECT_EQ(config.engine.tokenizer, row.tokenizer) << row.file;
    EXPECT_EQ(config.engine.moe_backend, row.moe_backend) << row.file;
    EXPECT_EQ(config.gate.threshold->threshold, row.threshold) << row.file;
    EXPECT_EQ(config.engine.ready_timeout_s, row.ready_timeout_s) << row.file;
  }
}

TEST(VllmEval, EnvironmentKeepsItsSourceText) {
  const std::map<std::string, std::string> expected = {{"VLLM_ROCM_USE_AITER", "1"},
                                                       {"VLLM_ROCM_USE_AITER_MHA", "0"},
                                                       {"VLLM_USE_AITER_UNIFIED_ATTENTION", "on"},
                                                       {"VLLM_WORKER_MULTIPROC_METHOD", "spawn"}};
  EXPECT_EQ(Load("gpt-oss-20b-rocm").engine.env, expected);
}

TEST(VllmEval, LongAndCapitalNamesBecomeNamesOfCells) {
  EXPECT_EQ(Load("gpt-oss-20b-TQ-t4nc").name, "gpt-oss-20b-tq-t4nc");
  const std::string stem = "gpt-oss-20b-sm100-fi-mxfp4-mxfp8-trtllm-deepep-v2";
  const std::string name = Load(stem).name;
  EXPECT_EQ(name.size(), 40u) << name;
  EXPECT_EQ(name.find("gpt-oss-20b-sm100-fi-mxfp4-mxfp-"), 0u) << name;
  EXPECT_NE(name, NameFromStem(stem + "x", 40, true));
  EXPECT_EQ(NameFromStem("---", 40, true).size(), 9u);
}

TEST(VllmEval, ListsAreReadWithCommentsCrlfAndNoFinalNewline) {
  const auto list = LoadList(Data("models-gfx950.txt"));
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 4u);
  EXPECT_EQ(list->back(), Data("gpt-oss-20b-rocm-quark-mxfp4-fp8-triton.yaml"));
  EXPECT_EQ(LoadList(Data("models-gfx942.txt"))->size(), 1u);
}

TEST(VllmEval, AListThatNamesNoFileIsAnError) {
  const auto list = LoadList(Data("models-with-missing.txt"));
  ASSERT_FALSE(list);
  EXPECT_NE(list.error().message.find("models-with-missing.txt:2:1: "), std::string::npos)
      << list.error().message;
  EXPECT_NE(list.error().message.find("gpt-oss-20b-rocm-mxfp4-fp8.yaml: no such file"), std::string::npos);
}

struct Bad {
  std::string text;
  std::string message;
};

constexpr char kModel[] = "model_name: m\n";
constexpr char kWhole[] = "model_name: m\nmetric_threshold: 0.568\n";

TEST(VllmEval, MistakesAreAnsweredWithPlaceAndRemedy) {
  const std::string model = kModel, whole = kWhole;
  const std::string args = "c.yaml:3:14: server_args: ";
  const std::vector<Bad> table = {
      {model + "metric_threshold: 0,568\n",
       "c.yaml:2:19: metric_threshold: must be a number between 0 and 1, got 0,568; a decimal point is "
       "needed: "
       "write 0.568"},
      {model + "metric_threshold: 56.8\n",
       "c.yaml:2:19: metric_threshold: must be a number between 0 and 1, got 56.8; a fraction is meant: "
       "write "
       "0.568 for 56.8 %"},
      {model + "metric_threshold: 0.05\n",
       "c.yaml:2:19: metric_threshold: 0.05 is not above vLLM's tolerance of 0.05, so that any score would "
       "pass"},
      {model + "metric_treshold: 0.568\n",
       "c.yaml:1:1: metric_threshold: is missing; for example metric_threshold: 0.568\n"
       "c.yaml:2:1: metric_treshold: unknown key; did you mean metric_threshold?"},
      {"metric_threshold: 0.568\n",
       "c.yaml:1:1: model_name: is missing; for example model_name: openai/gpt-oss-20b"},
      {whole + "tensor_parallel_size: 2\n",
       "c.yaml:3:1: tensor_parallel_size: unknown key; the keys here are model_name, metric_threshold, "
       "reasoning_effort, server_args, env, startup_max_wait_seconds"},
      {whole + "reasoning_effort: lwo\n",
       "c.yaml:3:19: reasoning_effort: must be one of low, medium, high, got lwo; did you mean low?"},
      {whole + "startup_max_wait_seconds: 0\n",
       "c.yaml:3:27: startup_max_wait_seconds: must be a number above 0, at most 86400, got 0; for example "
       "1800"},
      {whole + "env: {A: [1]}\n",
       "c.yaml:3:10: env.A: must be text, a number, true or false, got a list; write \"\" for an empty value "
       "and "
       "quotes around a list or map"},
      {whole + "server_args: [--tp, 2]\n",
       args + "must be a command line as text, got a list; for example --tensor-parallel-size 2"},
      {whole + "server_args: --port 8000\n", args + "--port: assay chooses a free port; remove it"},
      {whole + "server_args: --port=8000\n", args + "--port=8000: assay chooses a free port; remove it"},
      {whole + "server_args: -p 8000\n", args + "-p: assay chooses a free port; remove it"},
      {whole + "server_args: -p8000\n", args + "-p8000: assay chooses a free port; remove it"},
      {whole + "server_args: --seed=1\n",
       args + "--seed=1: assay sets the seed to 0, so that runs can be compared; remove it"},
      {whole + "server_args: --host 10.0.0.1\n",
       args + "--host: is 10.0.0.1, but assay asks 127.0.0.1; remove it"},
      {whole + "server_args: -tp two\n", args + "-tp: must be a whole number between 1 and 1024, got two"},
      {whole + "server_args: --moe-backend\n", args + "--moe-backend: has no value"},
      {whole + "server_args: --tokenizer=\n", args + "--tokenizer: has an empty value"},
      {whole + "server_args: -tp 2 --tensor_parallel_size=4\n",
       args + "--tensor-parallel-size: stands twice; keep one"},
      {whole + "server_args: \"--x '{\"\n",
       args + "a ' opens and never closes; arguments are split as a shell would"},
  };
  for (const Bad& bad : table) {
    ConfigFolder folder;
    const auto config = LoadConfig(folder.Write("c.yaml", bad.text));
    EXPECT_EQ(folder.ErrorOf(config), bad.message) << bad.text;
  }
}

TEST(VllmEval, PipelineParallelIsNoPort) {
  ConfigFolder folder;
  const auto config = LoadConfig(folder.Write("c.yaml", std::string(kWhole) + "server_args: -pp 2 -tp 4\n"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->engine.gpus, 8);
}

TEST(VllmEval, EmptyServerArgsAreNone) {
  ConfigFolder folder;
  for (const char* args : {"server_args:\n", "server_args: \"\"\n", ""}) {
    const auto config = LoadConfig(folder.Write("c.yaml", std::string(kWhole) + args));
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(ShellJoin(config->engine.argv),
              "vllm serve '{model}' --trust-remote-code --enforce-eager --disable-uvicorn-access-log --host "
              "'{host}' --port '{port}' --seed 0");
  }
}

TEST(VllmEval, ArgumentsThatAreThereAreNotAddedAgain) {
  ConfigFolder folder;
  const auto config = LoadConfig(folder.Write(
      "c.yaml", std::string(kWhole) + "server_args: --enforce_eager --host 0.0.0.0 --served-model-name x\n"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(ShellJoin(config->engine.argv),
            "vllm serve '{model}' --enforce_eager --host 0.0.0.0 --served-model-name x --trust-remote-code "
            "--disable-uvicorn-access-log --port '{port}' --seed 0");
  EXPECT_EQ(config->engine.model_id, "x");
}

TEST(FileFormat, IsToldByTheKeys) {
  ConfigFolder folder;
  EXPECT_EQ(
      folder.ErrorOf(LoadConfig(folder.Write(
          "g.yaml", "model_name: m\naccuracy_threshold: 0.9\nnum_questions: 1319\nnum_fewshot: 5\n"))),
      "g.yaml:1:1: is one of vLLM's GSM8K evals; assay measures GPQA: name a YAML with metric_threshold");
  EXPECT_EQ(
      folder.ErrorOf(LoadConfig(folder.Write("k.yaml", "apiVersion: v1\nkind: Pod\n"))),
      "k.yaml:1:1: is in no format that is read, by its keys (apiVersion, kind): a config, base or suite of "
      "assay begins with schema: assay/config/1; a GPQA eval of vLLM has model_name and metric_threshold; a "
      "workload of perf-eval has gpu, vllm and vllm_bench; its GPU profiles have the names of GPUs");
}

}  // namespace
}  // namespace assay::runner
