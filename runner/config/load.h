#pragma once

#include <optional>
#include <string>

#include "runner/config/config.h"

namespace assay::runner {

// One YAML file, whichever its keys say it is: a config, base or suite of assay, an eval of vLLM, a workload
// or the GPU profiles of perf-eval.
struct LoadedFile {
  std::string kind;  // "base": what it is, for people
  std::optional<Config> config;
  std::optional<Suite> suite;
};
Result<LoadedFile> LoadAny(const Path& file);

// The mistake of a file that is not there: "no such file; did you mean tiny-moe.yaml?"
std::string MissingFile(const Path& file);
Result<std::string> ReadConfigFile(const Path& file);

}  // namespace assay::runner
