#include "runner/config/vllm_eval.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"

namespace assay::runner {
namespace {

// What vLLM's test and gpt-oss's evals, which it calls, have fixed.
constexpr double kTolerance = 0.05;  // absolute, below the threshold only
constexpr int kRepeats = 8;
constexpr int kConcurrency = 200;
constexpr int64_t kMaxTokens = 131072;
constexpr double kEvalSeconds = 1800;
const std::vector<std::string>& AlwaysArgs() {
  static const std::vector<std::string> args = {"--trust-remote-code", "--enforce-eager",
                                                "--disable-uvicorn-access-log"};
  return args;
}

void CheckEval(const YamlNode& node, const std::string& path, const VllmEvalFile& eval, Reading& reading) {
  if (eval.metric_threshold > kTolerance) return;
  reading.mistakes.Add(node.Find("metric_threshold")->mark, JoinPath(path, "metric_threshold"),
                       fmt::format("{} is not above vLLM's tolerance of {}, so that any score would pass",
                                   eval.metric_threshold, kTolerance));
}

}  // namespace

const Section<VllmEvalFile>& VllmEvalSection() {
  using V = VllmEvalFile;
  static const Section<V> section = {
      "vllm-eval",
      "A YAML of vLLM's GPQA evals.",
      {
          {"model_name", &V::model_name, ModelName(), "Becomes `engine.model`.", "openai/gpt-oss-20b",
           kRequired},
          {"metric_threshold", &V::metric_threshold, Fraction(),
           "Becomes `evals.gpqa.threshold`, with vLLM's tolerance of 0.05 absolute.", "0.568", kRequired},
          {"reasoning_effort", &V::reasoning_effort, OneOf({"low", "medium", "high"}),
           "Becomes `evals.gpqa.reasoning_effort`.", "low"},
          {"server_args", &V::server_args, ServerArgsValue(),
           "Arguments of `vllm serve`, split as a shell would. `--port` and `--seed` are refused.",
           "--tensor-parallel-size 2"},
          {"env", &V::env, Environment(), "Becomes `engine.env`.", "{VLLM_ROCM_USE_AITER: \"1\"}"},
          {"startup_max_wait_seconds", &V::startup_max_wait_seconds, Number({0, 86400, true}),
           "Becomes `engine.ready_timeout_s`.", "1800"},
      },
      CheckEval,
  };
  return section;
}

Config ToConfig(const VllmEvalFile& eval, const Path& file) {
  Config config;
  config.file = file;
  config.name = NameFromStem(file.stem().string(), kMaxConfigName, true);
  config.engine = VllmEngine(eval.model_name, eval.server_args, AlwaysArgs());
  config.engine.env = eval.env;
  config.engine.env.emplace("VLLM_WORKER_MULTIPROC_METHOD", "spawn");
  config.engine.ready_timeout_s = eval.startup_max_wait_seconds;

  evals::GpqaOptions& gpqa = config.evals.gpqa.emplace();
  config.evals.gpqa_variant = "diamond";
  gpqa.api = "responses";
  gpqa.repeats = kRepeats;
  gpqa.reasoning_effort = eval.reasoning_effort;
  gpqa.temperature = 1;
  gpqa.max_tokens = kMaxTokens;
  gpqa.concurrency = kConcurrency;
  gpqa.request_timeout_s = kEvalSeconds;
  gpqa.idle_timeout_s = kEvalSeconds;
  gpqa.grader = "compat";

  const double broken_below =
      std::min(gate::ThresholdPolicy().broken_below, eval.metric_threshold - kTolerance);
  config.gate.threshold = gate::ThresholdPolicy{eval.metric_threshold, gate::ToleranceKind::kAbsolute,
                                                kTolerance, gate::ThresholdProof::kTolerance, broken_below};
  config.gate.baseline.kind = gate::BaselinePolicyKind::kNone;
  return config;
}

std::string NameFromStem(const std::string& stem, size_t max_length, bool dots) {
  constexpr size_t kHash = 8;
  const std::string whole = MadeSafe(stem, stem.size(), dots);
  if (whole.empty()) return "x" + Sha256(stem).substr(0, kHash);
  if (whole.size() <= max_length) return whole;
  return MadeSafe(stem, max_length - kHash - 1, dots) + "-" + Sha256(stem).substr(0, kHash);
}

}  // namespace assay::runner
