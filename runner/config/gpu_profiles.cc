#include "runner/config/gpu_profiles.h"

#include <algorithm>

#include "base/text.h"
#include "runner/config/hardware_names.h"

namespace assay::runner {
namespace {

constexpr int kFoldersAbove = 3;

// The map from GPUs to profiles: the root, or what its only key holds.
const YamlNode& Profiles(const YamlNode& tree) {
  if (tree.entries.size() != 1) return tree;
  const YamlEntry& only = tree.entries.front();
  return only.value.IsMap() && !HardwareOfGpu(only.key) ? only.value : tree;
}

}  // namespace

const Section<GpuProfile>& GpuProfileSection() {
  using G = GpuProfile;
  static const Section<G> section = {
      "perf-eval.profile",
      "A profile, by the name of its GPU.",
      {
          {"queue", &G::queue, Text(), "Not used: assay runs where it is started.", "h200"},
          {"image_repo", &G::image_repo, Text(), "Not used: the `vllm` found in PATH is started.",
           "vllm/vllm-openai"},
          {"hf_home", &G::hf_home, Text(), "Becomes `HF_HOME` in `engine.env`.", "/mnt/hf"},
          {"server_runtime", &G::server_runtime, OneOf({"docker", "native"}),
           "Not used: servers are started natively.", "native"},
          {"k8s_plugin", &G::k8s_plugin, Anything(), "Not used.", "{}"},
          {"env", &G::env, Environment(), "Goes into `engine.env`, below the workload's own.",
           "{HIP_VISIBLE_DEVICES: \"0,1\"}"},
      },
      nullptr,
  };
  return section;
}

GpuProfiles ReadGpuProfiles(const YamlNode& tree, Reading& reading) {
  GpuProfiles profiles;
  for (const YamlEntry& entry : Profiles(tree).entries) {
    if (!HardwareOfGpu(entry.key)) {
      reading.mistakes.Add(entry.mark, entry.key,
                           fmt::format("is no GPU that assay knows; it knows {}", Join(KnownGpus(), ", ")));
    } else if (!entry.value.IsMap()) {
      AddWrongType("a map", entry.value, {entry.key, "{env: {HIP_VISIBLE_DEVICES: \"0,1\"}}"}, reading);
    } else {
      ReadSection(GpuProfileSection(), entry.value, entry.key, reading, profiles[entry.key]);
    }
  }
  return profiles;
}

std::optional<Path> FindGpuProfiles(const Path& workload) {
  Path folder = std::filesystem::absolute(workload).lexically_normal().parent_path();
  for (int i = 0; i <= kFoldersAbove; ++i) {
    for (const char* name : {"gpu_profiles.yaml", "gpu_profiles.yml"}) {
      std::error_code ignored;
      if (std::filesystem::is_regular_file(folder / name, ignored)) return folder / name;
    }
    folder = folder.parent_path();
  }
  return std::nullopt;
}

std::optional<std::string> HardwareOfGpu(std::string_view gpu) {
  for (const HardwareName& hardware : HardwareNames()) {
    for (const std::string& product : hardware.products) {
      if (ToLower(product) == ToLower(gpu)) return hardware.name;
    }
  }
  return std::nullopt;
}

std::vector<std::string> KnownGpus() {
  std::vector<std::string> gpus;
  for (const HardwareName& hardware : HardwareNames()) {
    gpus.insert(gpus.end(), hardware.products.begin(), hardware.products.end());
  }
  return gpus;
}

}  // namespace assay::runner
