#include "runner/config/perf_eval.h"

#include "runner/config/config_test_support.h"

namespace assay::runner {
namespace {

Path Data(const std::string& name) {
  return Path(ASSAY_SOURCE_DIR) / "runner/config/testdata/perf-eval" / name;
}

Config Load(const std::string& name) {
  const auto config = LoadConfig(Data("workloads/" + name + ".yaml"));
  EXPECT_TRUE(config) << config.error().message;
  return config.value_or(Config());
}

std::string ShapesOf(const Config& config) {
  std::string text;
  for (const auto& shape : config.evals.serving) {
    text += fmt::format("{} {}/{} n={} c={} w={} seed={}\n", shape.name, shape.input_len, shape.output_len,
                        shape.num_prompts, shape.max_concurrency.value_or(0), shape.warmups, shape.seed);
  }
  return text;
}

constexpr char kWorkload[] =
    "name: w\n"
    "gpu: H200\n"
    "num_gpus: 2\n"
    "vllm: {model: m, serve_args: -tp 2}\n"
    "vllm_bench:\n"
    "  configs:\n"
    "    - {name: 1k1k, input_len: 1024}\n";

TEST(PerfEval, AWorkloadBecomesAServerAndItsShapes) {
  const Config config = Load("gpt-oss-120b_h200");
  EXPECT_EQ(config.name, "gpt-oss-120b_h200");
  EXPECT_EQ(config.hardware, "h200");
  EXPECT_EQ(config.engine.model, "openai/gpt-oss-120b");
  EXPECT_EQ(config.engine.tensor_parallel_size, 4);
  EXPECT_EQ(config.engine.gpus, 4);
  EXPECT_EQ(ShellJoin(config.engine.argv),
            "vllm serve '{model}' --tensor-parallel-size '{tp}' --max-num-seqs=512 --hf-overrides "
            "'{\"rope_scaling\": {\"factor\": 32}}' --host '{host}' --port '{port}' --seed 0");
  EXPECT_EQ(ShapesOf(config),
            "1k1k-c1-r1 1024/1024 n=640 c=1 w=8 seed=0\n"
            "1k1k-c1-r2 1024/1024 n=640 c=1 w=8 seed=0\n"
            "1k1k-c1-r3 1024/1024 n=640 c=1 w=8 seed=0\n"
            "1k1k-c64-r1 1024/1024 n=640 c=64 w=8 seed=0\n"
            "1k1k-c64-r2 1024/1024 n=640 c=64 w=8 seed=0\n"
            "1k1k-c64-r3 1024/1024 n=640 c=64 w=8 seed=0\n"
            "8k1k 8192/1024 n=1000 c=16 w=0 seed=7\n");
  EXPECT_EQ(config.evals.serving[0].request_rate, 0);
  EXPECT_EQ(config.evals.serving[0].api, "completions");
  EXPECT_TRUE(config.evals.serving[0].text_prompts) << "no vocabulary is needed on this machine";
  EXPECT_EQ(config.evals.serving[6].api, "chat");
  EXPECT_EQ(config.evals.serving[6].range_ratio, 0.2);
  EXPECT_EQ(config.evals.serving[0].request_timeout_s, 180 * 60);
  EXPECT_FALSE(config.evals.gpqa);
  EXPECT_FALSE(config.gate.threshold);
  EXPECT_EQ(Join(config.notes, "\n"),
            "lm_eval is not run (gsm8k, gpqa_diamond_cot_zeroshot)\n"
            "bfcl is not run\n"
            "vllm.image is not used: the vllm found in PATH is started, not vllm/vllm-openai:nightly");
}

TEST(PerfEval, TheProfilesEnvironmentLiesBelowTheWorkloads) {
  const Config config = Load("gpt-oss-20b_mi355x");
  EXPECT_EQ(config.hardware, "gfx950");
  const std::map<std::string, std::string> expected = {
      {"HF_HOME", "/data/hf"}, {"HIP_FORCE_DEV_KERNARG", "1"}, {"VLLM_ROCM_USE_AITER", "1"}};
  EXPECT_EQ(config.engine.env, expected);
  EXPECT_EQ(config.engine.tensor_parallel_size, 2);
  EXPECT_EQ(config.engine.gpus, 8);
  EXPECT_EQ(config.engine.tokenizer, "openai/gpt-oss-20b");
  EXPECT_EQ(config.engine.moe_backend, "aiter");
  ASSERT_EQ(config.evals.serving.size(), 1u);
  EXPECT_EQ(config.evals.serving[0].request_rate, 10);
  EXPECT_FALSE(config.evals.serving[0].max_concurrency);
  EXPECT_TRUE(config.notes.empty());
}

// vllm bench serve pins the length of random answers only and sends no temperature.
TEST(PerfEval, AnswersEndAsVllmLetsThemEnd) {
  const auto shape = [](const std::string& keys) {
    ConfigFolder folder;
    const auto config = LoadConfig(folder.Write("c.yaml", ReplaceAll(kWorkload, "input_len: 1024", keys)));
    EXPECT_TRUE(config) << config.error().message;
    return config->evals.serving.at(0);
  };
  const evals::ServingOptions random = shape("input_len: 1024");
  EXPECT_TRUE(random.ignore_eos);
  EXPECT_FALSE(random.temperature);
  EXPECT_EQ(random.request_timeout_s, 7200);
  EXPECT_EQ(random.idle_timeout_s, 7200);
  const std::string sharegpt = "dataset: sharegpt, args: {dataset-path: s.json";
  EXPECT_FALSE(shape(sharegpt + "}").ignore_eos);
  EXPECT_TRUE(shape(sharegpt + ", ignore-eos: true}").ignore_eos);
  EXPECT_FALSE(shape("args: {ignore_eos: false}").ignore_eos);
  EXPECT_EQ(shape("args: {temperature: 0.5}").temperature, 0.5);
}

TEST(PerfEval, ProfilesAreNoConfig) {
  const auto config = LoadConfig(Data("gpu_profiles.yaml"));
  ASSERT_FALSE(config);
  EXPECT_NE(
      config.error().message.find("gpu_profiles.yaml: GPU profiles of perf-eval (H200, MI355X): nothing "
                                  "to run; name a workload"),
      std::string::npos)
      << config.error().message;
}

TEST(PerfEval, MistakesAreAnsweredWithPlaceAndRemedy) {
  struct Bad {
    std::string from, to, message;
  };
  const std::vector<Bad> table = {
      {"gpu: H200", "gpu: H300",
       "c.yaml:2:6: gpu: H300 is no GPU that assay knows; it knows H100, H200, B200, MI210, MI250, MI250X, "
       "MI300A, MI300X, MI325X, MI350X, MI355X"},
      {"num_gpus: 2", "num_gpu: 2", "c.yaml:3:1: num_gpu: unknown key; did you mean num_gpus?"},
      {"-tp 2", "-tp 4", "c.yaml:4:30: vllm.serve_args: take 4 GPUs, but num_gpus is 2"},
      {"-tp 2", "--port=8000",
       "c.yaml:4:30: vllm.serve_args: --port=8000: assay chooses a free port; remove it"},
      {"input_len: 1024", "input_len: 1024, repetitions: 2",
       "c.yaml:7:50: vllm_bench.configs[0].repetitions: must be odd, so that there is a median, got 2"},
      {"input_len: 1024", "args: {\"--num-prompts\": 3}",
       "c.yaml:7:27: vllm_bench.configs[0].args.--num-prompts: is decided by the benchmark's other keys or "
       "by "
       "assay; remove it from args"},
      {"input_len: 1024", "args: {request-rate: 3, --request_rate: 4}",
       "c.yaml:7:44: vllm_bench.configs[0].args.--request_rate: is request-rate once more in another "
       "spelling; "
       "keep one"},
      {"input_len: 1024", "args: {request-rat: 3}",
       "c.yaml:7:27: vllm_bench.configs[0].args.request-rat: unknown key; did you mean request-rate?"},
      {"input_len: 1024", "max_concurrency: [1, 0]",
       "c.yaml:7:41: vllm_bench.configs[0].max_concurrency[1]: must be a whole number between 1 and 1000000, "
       "got "
       "0; for example [1, 64]"},
      {"vllm_bench:\n  configs:\n    - {name: 1k1k, input_len: 1024}\n",
       "lm_eval: {tasks: [{name: gsm8k}]}\n",
       "c.yaml:1:1: has no vllm_bench.configs, and assay runs neither lm_eval nor bfcl: nothing would be "
       "measured"},
  };
  for (const Bad& bad : table) {
    ConfigFolder folder;
    const std::string text = ReplaceAll(kWorkload, bad.from, bad.to);
    EXPECT_EQ(folder.ErrorOf(LoadConfig(folder.Write("c.yaml", text))), bad.message) << text;
  }
}

TEST(PerfEval, AGpuWithoutItsProfileIsAMistake) {
  ConfigFolder folder;
  folder.Write("gpu_profiles.yml", "profiles:\n  B200: {env: {A: 1}}\n");
  const Path file = folder.Write("a/b/c.yaml", kWorkload);
  EXPECT_EQ(folder.ErrorOf(LoadConfig(file)),
            "a/b/c.yaml:2:6: gpu: H200 has no profile in gpu_profiles.yml, which has B200");
  folder.Write("a/gpu_profiles.yaml", "h200: {env: {A: 1}, hf_hom: /x}\n");
  EXPECT_EQ(folder.ErrorOf(LoadConfig(file)),
            "a/gpu_profiles.yaml:1:21: h200.hf_hom: unknown key; did you mean hf_home?");
  folder.Write("a/gpu_profiles.yaml", "h200: {env: {A: 1}}\n");
  const auto config = LoadConfig(file);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->engine.env.at("A"), "1");
}

TEST(PerfEval, WithoutProfilesANoteSaysSo) {
  ConfigFolder folder;
  const auto config = LoadConfig(folder.Write("c.yaml", kWorkload));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(Join(config->notes, "\n"),
            "no gpu_profiles.yaml beside this file or up to three folders above: no profile is used");
}

}  // namespace
}  // namespace assay::runner
