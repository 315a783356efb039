#pragma once

#include <optional>

#include "runner/config/config.h"

namespace assay::runner {

// One YAML file, whichever of the three kinds its `schema` says it is. A base holds neither.
struct LoadedFile {
  std::optional<Config> config;
  std::optional<Suite> suite;
};
Result<LoadedFile> LoadAny(const Path& file);

}  // namespace assay::runner
