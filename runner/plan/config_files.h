#pragma once

#include <string>
#include <vector>

#include "runner/config/config.h"

namespace assay::runner {

// The configs that files, list files (.txt) and folders name, in that order; folders give every config below
// them and skip suites and bases.
Result<std::vector<Config>> LoadConfigs(const std::vector<Path>& paths);

// The nearest folder above a config that holds suites/; "configs" in the working folder when there is none.
Path ConfigsFolder(const Path& config_file);

struct FileCheck {
  Path file;
  bool ok = false;
  std::string text;  // ok: "config cpu.tiny-moe: gpqa, 2 serving shapes"; else every mistake, one a line
};

// Each config, base, suite and list file below the paths, planned as `run` would, without looking for models
// or data. An error only when a path is not there or holds nothing to check.
Result<std::vector<FileCheck>> ValidatePaths(const std::vector<Path>& paths);

}  // namespace assay::runner
