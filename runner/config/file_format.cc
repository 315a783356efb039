#include "runner/config/file_format.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "runner/config/gpu_profiles.h"

namespace assay::runner {
namespace {

struct FormatMarks {
  FileFormat format;
  std::vector<std::string_view> keys;  // that only this format has at its root
};

const std::vector<FormatMarks>& Marks() {
  static const std::vector<FormatMarks> marks = {
      {FileFormat::kAssay, {"extends", "hardware", "engine", "evals", "gate", "gpqa", "serving"}},
      {FileFormat::kVllmGsm8k, {"accuracy_threshold", "num_questions", "num_fewshot"}},
      {FileFormat::kVllmEval,
       {"model_name", "metric_threshold", "reasoning_effort", "server_args", "startup_max_wait_seconds"}},
      {FileFormat::kPerfEval,
       {"gpu", "num_gpus", "nightly", "timeout_in_minutes", "vllm", "lm_eval", "vllm_bench", "bfcl"}},
  };
  return marks;
}

bool NamesAGpu(const YamlNode& map) {
  return std::any_of(map.entries.begin(), map.entries.end(),
                     [](const YamlEntry& entry) { return HardwareOfGpu(entry.key).has_value(); });
}

bool IsGpuProfiles(const YamlNode& tree) {
  return NamesAGpu(tree) || (tree.entries.size() == 1 && NamesAGpu(tree.entries.front().value));
}

}  // namespace

FileFormat RecogniseFormat(const YamlNode& tree) {
  if (tree.Find("schema") != nullptr) return FileFormat::kAssay;
  FileFormat best = FileFormat::kUnknown;
  long most = 0;
  for (const FormatMarks& marks : Marks()) {
    const long found = std::count_if(marks.keys.begin(), marks.keys.end(),
                                     [&](std::string_view key) { return tree.Find(key) != nullptr; });
    if (found <= most) continue;
    most = found;
    best = marks.format;
  }
  // A GSM8K eval shares most of its keys with a GPQA one; its own decide.
  if (best == FileFormat::kVllmEval && tree.Find("accuracy_threshold") != nullptr)
    return FileFormat::kVllmGsm8k;
  if (best == FileFormat::kUnknown && IsGpuProfiles(tree)) return FileFormat::kGpuProfiles;
  return best;
}

std::string UnknownFormatMessage(const YamlNode& tree) {
  std::vector<std::string> keys;
  for (const YamlEntry& entry : tree.entries) keys.push_back(entry.key);
  return fmt::format(
      "is in no format that is read, by its keys ({}): a config, base or suite of assay begins with schema: "
      "assay/config/1; a GPQA eval of vLLM has model_name and metric_threshold; a workload of perf-eval has "
      "gpu, vllm and vllm_bench; its GPU profiles have the names of GPUs",
      Join(keys, ", "));
}

}  // namespace assay::runner
