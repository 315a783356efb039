#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "runner/config/perf_eval.h"

namespace assay::runner {
namespace {

// Arguments of `vllm bench serve` that the workload's other keys, or assay, decide.
constexpr std::array<std::string_view, 17> kReserved = {"backend",
                                                        "base-url",
                                                        "host",
                                                        "port",
                                                        "endpoint",
                                                        "model",
                                                        "tokenizer",
                                                        "dataset-name",
                                                        "input-len",
                                                        "output-len",
                                                        "num-prompts",
                                                        "max-concurrency",
                                                        "result-dir",
                                                        "random-input-len",
                                                        "result-filename",
                                                        "random-output-len",
                                                        "served-model-name"};
// Arguments that say what vLLM prints and keeps; assay always keeps all of it.
constexpr std::array<std::string_view, 10> kPrintOnly = {
    "percentile-metrics", "metric-percentiles", "save-result", "save-detailed",
    "append-result",      "disable-tqdm",       "label",       "metadata",
    "request-id-prefix",  "trust-remote-code"};

template <size_t N>
bool Contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "--request_rate" is "request-rate".
std::string ArgumentName(std::string_view key) {
  while (StartsWith(key, "-")) key.remove_prefix(1);
  return ReplaceAll(std::string(key), "_", "-");
}

// `args` with names in one spelling, without those that decide nothing here.
YamlNode Spelled(const YamlNode& args, const std::string& path, Reading& reading) {
  YamlNode spelled = args;
  spelled.entries.clear();
  std::set<std::string> seen;
  for (const YamlEntry& entry : args.entries) {
    const std::string name = ArgumentName(entry.key);
    if (!seen.insert(name).second) {
      reading.mistakes.Add(entry.mark, JoinPath(path, entry.key),
                           fmt::format("is {} once more in another spelling; keep one", name));
    } else if (Contains(kReserved, name)) {
      reading.mistakes.Add(entry.mark, JoinPath(path, entry.key),
                           "is decided by the benchmark's other keys or by assay; remove it from args");
    } else if (!Contains(kPrintOnly, name)) {
      spelled.entries.push_back({name, entry.mark, entry.value});
    }
  }
  return spelled;
}

Value<VllmBenchArgs> BenchArgs() {
  Value<VllmBenchArgs> value = Sub(PerfEvalArgsSection());
  value.read = [read = value.read](const YamlNode& node, const Where& where, Reading& reading) {
    return read(node.IsMap() ? Spelled(node, where.path, reading) : node, where, reading);
  };
  value.write = [](const VllmBenchArgs&, Form) { return Json(); };
  return value;
}

Value<std::vector<int64_t>> OneOrMore() {
  const Value<int64_t> one = Integer<int64_t>(1, 1000000);
  Value<std::vector<int64_t>> value = ListOf(one, one.type + ", or a list of them");
  value.read = [list = value.read, one](const YamlNode& node, const Where& where,
                                        Reading& reading) -> std::optional<std::vector<int64_t>> {
    if (node.kind == YamlNode::Kind::kList) return list(node, where, reading);
    const auto number = one.read(node, where, reading);
    return number ? std::optional(std::vector<int64_t>{*number}) : std::nullopt;
  };
  return value;
}

void CheckBench(const YamlNode& node, const std::string& path, const PerfEvalBench& bench, Reading& reading) {
  if (bench.repetitions % 2 == 0) {
    reading.mistakes.Add(node.Find("repetitions")->mark, JoinPath(path, "repetitions"),
                         fmt::format("must be odd, so that there is a median, got {}", bench.repetitions));
  }
  if (const Status checked = evals::CheckOptions(bench.options); !checked) {
    reading.mistakes.Add(node.mark, path, checked.error().message);
  }
}

}  // namespace

const Section<VllmBenchArgs>& PerfEvalArgsSection() {
  using S = VllmBenchArgs;
  static const Section<S> section = {
      "perf-eval.vllm_bench.configs[].args",
      "Further arguments of `vllm bench serve`.",
      {
          {"request-rate", &S::request_rate, RequestRate(), "Becomes `request_rate`.", "10"},
          {"burstiness", &S::burstiness, Number({0, 1e6, true}), "Becomes `burstiness`.", "1"},
          {"num-warmups", &S::warmups, Integer<int64_t>(0, 1000000), "Becomes `warmups`.", "8"},
          {"seed", &S::seed, Integer<uint64_t>(0), "Becomes `seed`.", "0"},
          {"ignore-eos", &S::asked_ignore_eos, TrueOrFalse(),
           "Becomes `ignore_eos`. Default: true for random prompts, false for others.", "true"},
          {"temperature", &S::temperature, Temperature(), "Becomes `temperature`. Default: none is sent.",
           "0"},
          {"random-range-ratio", &S::range_ratio, Fraction(), "Becomes `range_ratio`, in vLLM's convention.",
           "0.2"},
          {"random-prefix-len", &S::prefix_len, Integer<int64_t>(0, 10'000'000), "Becomes `prefix_len`.",
           "256"},
          {"dataset-path", &S::dataset_path, FilePath(), "Becomes `dataset_path` (see *Paths*).",
           "ShareGPT_V3_unfiltered_cleaned_split.json"},
          {"ramp-up-strategy", &S::ramp_up, OneOf({"linear", "exponential"}), "Becomes `ramp_up`.", "linear"},
          {"ramp-up-start-rps", &S::ramp_up_start, Number({0, 1e9}), "Becomes `ramp_up_start`.", "1"},
          {"ramp-up-end-rps", &S::ramp_up_end, Number({0, 1e9}), "Becomes `ramp_up_end`.", "20"},
      },
      nullptr,
  };
  return section;
}

const Section<PerfEvalBench>& PerfEvalBenchSection() {
  using B = PerfEvalBench;
  const auto option = [](auto member) {
    return [member](auto& bench) -> auto& {
      return bench.options.*member;
    };
  };
  using O = evals::ServingOptions;
  static const Section<B> section = {
      "perf-eval.vllm_bench.configs[]",
      "One serving benchmark.",
      {
          // First, because it sets all options that the keys below then set one by one.
          {"args", &B::options, BenchArgs(),
           "Further arguments of `vllm bench serve`, in any of its spellings. Those that only say what is "
           "printed or kept are accepted; the rest are below.",
           "{request-rate: 10}"},
          {"name", &B::name, Text(),
           "Becomes `name` of the shape, with `-c<limit>` for each of several limits and `-r<n>` for each of "
           "several repetitions.",
           "1k1k", kRequired},
          {"backend", option(&O::api),
           OneOfEnum<std::string>(
               {{"vllm", "completions"}, {"openai", "completions"}, {"openai-chat", "chat"}}),
           "Becomes `api`: `openai-chat` is `chat`, the others are `completions`.", "vllm"},
          {"dataset", option(&O::dataset), OneOf({"random", "sharegpt", "custom"}),
           "Becomes `dataset`; random prompts are text of exact length, as vLLM sends them.", "random"},
          {"input_len", option(&O::input_len), Integer<int64_t>(1, 10000000), "Becomes `input_len`.", "1024"},
          {"output_len", option(&O::output_len), Integer<int64_t>(1, 10000000), "Becomes `output_len`.",
           "1024"},
          {"num_prompts", option(&O::num_prompts), Integer<int64_t>(1, 10000000), "Becomes `num_prompts`.",
           "512"},
          {"max_concurrency", &B::max_concurrency, OneOrMore(),
           "Becomes `max_concurrency`; a list is a shape each.", "[1, 64]"},
          {"repetitions", &B::repetitions, Integer<int>(1, 99),
           "An odd number of times. Each is a shape of its own, since assay judges runs and not medians.",
           "3"},
      },
      CheckBench,
  };
  return section;
}

}  // namespace assay::runner
