#include "runner/config/perf_eval.h"

#include <algorithm>

#include "base/text.h"
#include "runner/config/vllm_eval.h"

namespace assay::runner {
namespace {

constexpr double kReadySeconds = 3600;  // perf-eval waits so long for a server
constexpr double kSecondsPerMinute = 60;

void CheckWorkload(const YamlNode& node, const std::string& path, const PerfEvalFile& workload,
                   Reading& reading) {
  if (!HardwareOfGpu(workload.gpu)) {
    reading.mistakes.Add(
        node.Find("gpu")->mark, JoinPath(path, "gpu"),
        fmt::format("{} is no GPU that assay knows; it knows {}", workload.gpu, Join(KnownGpus(), ", ")));
  }
  const int ranks = workload.vllm.serve_args.gpus;
  if (ranks > workload.num_gpus) {
    reading.mistakes.Add(node.Find("vllm")->Find("serve_args")->mark, JoinPath(path, "vllm.serve_args"),
                         fmt::format("take {} GPUs, but num_gpus is {}", ranks, workload.num_gpus));
  }
  if (workload.vllm_bench.configs.empty()) {
    reading.mistakes.Add(node.mark, path,
                         "has no vllm_bench.configs, and assay runs neither lm_eval nor bfcl: nothing would "
                         "be measured");
  }
}

const Section<PerfEvalServer>& ServerSection() {
  using S = PerfEvalServer;
  static const Section<S> section = {
      "perf-eval.vllm",
      "The server.",
      {
          {"model", &S::model, ModelName(), "Becomes `engine.model`.", "openai/gpt-oss-20b", kRequired},
          {"image", &S::image, Text(), "Not used: the `vllm` found in PATH is started.",
           "vllm/vllm-openai:nightly"},
          {"env", &S::env, Environment(), "Becomes `engine.env`, over the profile's.",
           "{VLLM_ROCM_USE_AITER: 1}"},
          {"serve_args", &S::serve_args, ServerArgsValue(),
           "Arguments of `vllm serve`, split as a shell would. `--port` and `--seed` are refused.",
           "--tensor-parallel-size 2"},
      },
      nullptr,
  };
  return section;
}

const Section<PerfEvalBenches>& BenchesSection() {
  using B = PerfEvalBenches;
  static const Section<B> section = {
      "perf-eval.vllm_bench",
      "The serving benchmarks.",
      {{"configs", &B::configs, ListOf(Sub(PerfEvalBenchSection()), "a list of benchmarks"),
        "One benchmark each; see below.", "[{name: 1k1k, input_len: 1024, output_len: 1024}]"}},
      nullptr,
  };
  return section;
}

std::string TaskNames(const YamlNode& lm_eval) {
  std::vector<std::string> names;
  const YamlNode* tasks = lm_eval.Find("tasks");
  for (const YamlNode& task : tasks != nullptr ? tasks->items : std::vector<YamlNode>()) {
    const YamlNode* name = task.Find("name");
    names.push_back(name != nullptr ? name->text : task.text);
  }
  return Join(names, ", ");
}

std::vector<std::string> Notes(const PerfEvalFile& workload, const std::optional<GpuProfile>& profile) {
  std::vector<std::string> notes;
  if (const std::string tasks = TaskNames(workload.lm_eval); !tasks.empty()) {
    notes.push_back(fmt::format("lm_eval is not run ({})", tasks));
  }
  if (workload.bfcl.kind != YamlNode::Kind::kNull) notes.push_back("bfcl is not run");
  if (!workload.vllm.image.empty()) {
    notes.push_back(fmt::format("vllm.image is not used: the vllm found in PATH is started, not {}",
                                workload.vllm.image));
  }
  if (!profile) {
    notes.push_back("no gpu_profiles.yaml beside this file or up to three folders above: no profile is used");
  }
  return notes;
}

// "1k1k", "1k1k-c64", "1k1k-c64-r2"
std::string ShapeName(const std::string& name, const std::string& suffix) {
  return NameFromStem(name, kMaxConfigName - suffix.size(), false) + suffix;
}

void AddShapes(const PerfEvalBench& bench, double request_timeout_s,
               std::vector<evals::ServingOptions>& shapes) {
  const auto& limits = bench.max_concurrency;
  for (size_t i = 0; i < std::max<size_t>(limits.size(), 1); ++i) {
    for (int repetition = 1; repetition <= bench.repetitions; ++repetition) {
      evals::ServingOptions shape = bench.options;
      std::string suffix;
      if (!limits.empty()) shape.max_concurrency = limits[i];
      if (limits.size() > 1) suffix += fmt::format("-c{}", limits[i]);
      if (bench.repetitions > 1) suffix += fmt::format("-r{}", repetition);
      shape.name = ShapeName(bench.name, suffix);
      shape.request_timeout_s = shape.idle_timeout_s = request_timeout_s;  // no read timeout of its own
      shape.text_prompts = shape.dataset == "random";
      shape.ignore_eos = bench.options.asked_ignore_eos.value_or(shape.dataset == "random");
      shapes.push_back(std::move(shape));
    }
  }
}

}  // namespace

const Section<PerfEvalFile>& PerfEvalSection() {
  using P = PerfEvalFile;
  static const Section<P> section = {
      "perf-eval",
      "A workload of vllm-project/perf-eval.",
      {
          {"name", &P::name, Text(), "Becomes `name`, in lower case. Default: the file's.",
           "gpt-oss-20b-h200"},
          {"gpu", &P::gpu, Text(), "Decides `hardware` (MI300X: gfx942, MI355X: gfx950) and the profile.",
           "H200", kRequired},
          {"num_gpus", &P::num_gpus, Integer<int>(1, 1024), "Becomes `engine.gpus`.", "2"},
          {"nightly", &P::nightly, TrueOrFalse(), "Not used: a schedule is the CI's.", "true"},
          {"timeout_in_minutes", &P::timeout_in_minutes, Integer<int>(1, 1440),
           "Limit of every single request; how long a job may take is the CI's to say.", "120"},
          {"vllm", &P::vllm, Sub(ServerSection()), "The server.", "{model: openai/gpt-oss-20b}", kRequired},
          {"lm_eval", &P::lm_eval, Anything(), "Not measured; a note says which tasks were left out.",
           "{tasks: [{name: gsm8k}]}"},
          {"bfcl", &P::bfcl, Anything(), "Not measured; a note says so.", "{}"},
          {"vllm_bench", &P::vllm_bench, Sub(BenchesSection()), "Becomes `evals.serving`.",
           "{configs: [{name: 1k1k, input_len: 1024, output_len: 1024}]}"},
      },
      CheckWorkload,
  };
  return section;
}

Config ToConfig(const PerfEvalFile& workload, const std::optional<GpuProfile>& profile, const Path& file) {
  Config config;
  config.file = file;
  config.name =
      NameFromStem(workload.name.empty() ? file.stem().string() : workload.name, kMaxConfigName, true);
  config.hardware = HardwareOfGpu(workload.gpu).value_or("");
  config.engine = VllmEngine(workload.vllm.model, workload.vllm.serve_args, {});
  config.engine.gpus = workload.num_gpus;
  config.engine.ready_timeout_s = kReadySeconds;
  config.engine.env = workload.vllm.env;
  if (profile) {
    config.engine.env.insert(profile->env.begin(), profile->env.end());
    if (!profile->hf_home.empty()) config.engine.env.emplace("HF_HOME", profile->hf_home);
  }
  for (const PerfEvalBench& bench : workload.vllm_bench.configs) {
    AddShapes(bench, workload.timeout_in_minutes * kSecondsPerMinute, config.evals.serving);
  }
  config.gate.baseline.first_run = gate::FirstRun::kRecord;
  config.notes = Notes(workload, profile);
  return config;
}

}  // namespace assay::runner
