#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

using Path = std::filesystem::path;

Result<std::string> ReadFile(const Path& path);

// Writes beside the target, flushes to disk, renames: readers see the old file or the new one, never half of
// one.
Status WriteFileAtomic(const Path& path, std::string_view content);

Status MakeFolders(const Path& path);

// The last lines of a text file, at most `max_bytes` of it; empty when it cannot be read.
std::vector<std::string> TailLines(const Path& path, size_t max_lines, size_t max_bytes = 64 * 1024);

}  // namespace assay
