#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/config/config.h"
#include "runner/config/gpu_profiles.h"
#include "runner/config/keys.h"
#include "runner/config/server_args.h"

// A workload YAML of vllm-project/perf-eval, read as it is.
namespace assay::runner {

struct PerfEvalServer {
  std::string model;
  std::string image;
  std::map<std::string, std::string> env;
  ServerArgs serve_args;
};

// Defaults are those of `vllm bench serve`.
struct VllmBenchArgs : evals::ServingOptions {
  VllmBenchArgs() {
    num_prompts = 1000;
    warmups = 0;
    temperature.reset();
  }
  std::optional<bool> asked_ignore_eos;  // absent: for random prompts only
};

struct PerfEvalBench {
  std::string name;
  std::vector<int64_t> max_concurrency;  // a shape each; empty: no limit
  int repetitions = 1;
  VllmBenchArgs options;
};

struct PerfEvalBenches {
  std::vector<PerfEvalBench> configs;
};

struct PerfEvalFile {
  std::string name;
  std::string gpu;
  int num_gpus = 1;
  bool nightly = false;
  int timeout_in_minutes = 120;
  PerfEvalServer vllm;
  YamlNode lm_eval, bfcl;  // not measured
  PerfEvalBenches vllm_bench;
};

const Section<PerfEvalFile>& PerfEvalSection();
const Section<VllmBenchArgs>& PerfEvalArgsSection();
const Section<PerfEvalBench>& PerfEvalBenchSection();

// `profile` is that of the workload's GPU, where a file of profiles was found.
Config ToConfig(const PerfEvalFile& workload, const std::optional<GpuProfile>& profile, const Path& file);

}  // namespace assay::runner
