#include "runner/config/load_others.h"

#include "base/text.h"
#include "runner/config/gpu_profiles.h"
#include "runner/config/perf_eval.h"
#include "runner/config/vllm_eval.h"

namespace assay::runner {
namespace {

template <typename S>
Result<S> ReadWhole(const Section<S>& section, const YamlNode& tree) {
  Mistakes mistakes;
  Reading reading{mistakes};
  S read;
  ReadSection(section, tree, "", reading, read);
  if (!mistakes.empty()) return tl::unexpected(mistakes.ToError());
  return read;
}

Result<GpuProfiles> LoadGpuProfiles(const Path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadConfigFile(file));
  Mistakes mistakes;
  Reading reading{mistakes};
  const YamlNode tree = ParseYaml(text, file.string(), mistakes);
  GpuProfiles profiles;
  if (mistakes.empty()) profiles = ReadGpuProfiles(tree, reading);
  if (!mistakes.empty()) return tl::unexpected(mistakes.ToError());
  return profiles;
}

// The profile of the workload's GPU, whatever case it is written in; nullopt when there is no file of
// profiles.
Result<std::optional<GpuProfile>> ProfileOf(const std::string& gpu, const Mark& mark, const Path& workload) {
  const std::optional<Path> file = FindGpuProfiles(workload);
  if (!file) return std::nullopt;
  ASSIGN_OR_RETURN(const GpuProfiles profiles, LoadGpuProfiles(*file));
  std::vector<std::string> names;
  for (const auto& [name, profile] : profiles) {
    if (ToLower(name) == ToLower(gpu)) return profile;
    names.push_back(name);
  }
  Mistakes mistakes;
  mistakes.Add(mark, "gpu",
               fmt::format("{} has no profile in {}, which has {}", gpu, file->string(), Join(names, ", ")));
  return tl::unexpected(mistakes.ToError());
}

Result<LoadedFile> LoadVllmEval(const YamlNode& tree, const Path& file) {
  ASSIGN_OR_RETURN(const VllmEvalFile eval, ReadWhole(VllmEvalSection(), tree));
  LoadedFile loaded;
  loaded.kind = "vLLM eval";
  loaded.config = ToConfig(eval, file);
  return loaded;
}

Result<LoadedFile> LoadPerfEval(const YamlNode& tree, const Path& file) {
  ASSIGN_OR_RETURN(const PerfEvalFile workload, ReadWhole(PerfEvalSection(), tree));
  ASSIGN_OR_RETURN(const auto profile, ProfileOf(workload.gpu, tree.Find("gpu")->mark, file));
  LoadedFile loaded;
  loaded.kind = "perf-eval workload";
  loaded.config = ToConfig(workload, profile, file);
  return loaded;
}

Result<LoadedFile> LoadProfiles(const Path& file) {
  ASSIGN_OR_RETURN(const GpuProfiles profiles, LoadGpuProfiles(file));
  std::vector<std::string> names;
  for (const auto& [name, profile] : profiles) names.push_back(name);
  LoadedFile loaded;
  loaded.kind = fmt::format("GPU profiles of perf-eval ({})", Join(names, ", "));
  return loaded;
}

tl::unexpected<Error> Refuse(const YamlNode& tree, std::string what) {
  Mistakes mistakes;
  mistakes.Add(tree.mark, "", std::move(what));
  return tl::unexpected(mistakes.ToError());
}

}  // namespace

Result<LoadedFile> LoadOther(FileFormat format, const YamlNode& tree, const Path& file) {
  switch (format) {
    case FileFormat::kVllmEval:
      return LoadVllmEval(tree, file);
    case FileFormat::kPerfEval:
      return LoadPerfEval(tree, file);
    case FileFormat::kGpuProfiles:
      return LoadProfiles(file);
    case FileFormat::kVllmGsm8k:
      return Refuse(tree,
                    "is one of vLLM's GSM8K evals; assay measures GPQA: name a YAML with metric_threshold");
    case FileFormat::kAssay:
    case FileFormat::kUnknown:
      break;
  }
  return Refuse(tree, UnknownFormatMessage(tree));
}

}  // namespace assay::runner
