#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "runner/config/keys.h"

// perf-eval's file of GPU profiles: what all workloads on one kind of GPU share.
namespace assay::runner {

struct GpuProfile {
  std::string queue, image_repo;
  std::string hf_home;
  std::string server_runtime;  // docker | native
  YamlNode k8s_plugin;
  std::map<std::string, std::string> env;
};

using GpuProfiles = std::map<std::string, GpuProfile>;  // by GPU, as perf-eval names it: "MI355X"

const Section<GpuProfile>& GpuProfileSection();

// `tree` is the whole file; the profiles may stand under one key of their own.
GpuProfiles ReadGpuProfiles(const YamlNode& tree, Reading& reading);

// gpu_profiles.yaml in the workload's folder or one of the three above it.
std::optional<Path> FindGpuProfiles(const Path& workload);

// The kind of hardware that a GPU's name means: "MI355X" is gfx950. nullopt: none that is known.
std::optional<std::string> HardwareOfGpu(std::string_view gpu);
// "H100, H200, ...": what HardwareOfGpu knows.
std::vector<std::string> KnownGpus();

}  // namespace assay::runner
