#pragma once

#include <string>

#include "runner/config/yaml_tree.h"

namespace assay::runner {

// What a YAML file is, by its keys at the root. One with `schema` is always assay's own.
enum class FileFormat { kAssay, kVllmEval, kVllmGsm8k, kPerfEval, kGpuProfiles, kUnknown };

FileFormat RecogniseFormat(const YamlNode& tree);

// "is in no format that is read; ...": names every format that was tried and what marks it.
std::string UnknownFormatMessage(const YamlNode& tree);

}  // namespace assay::runner
