#pragma once

#include "runner/config/file_format.h"
#include "runner/config/load.h"

namespace assay::runner {

// A file that another project wrote, as a config of assay's.
Result<LoadedFile> LoadOther(FileFormat format, const YamlNode& tree, const Path& file);

}  // namespace assay::runner
