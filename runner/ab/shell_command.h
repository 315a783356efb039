#pragma once

#include <atomic>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace assay::runner {

// Runs `text` by /bin/sh in a folder, both outputs appended to a log, and returns its status as wait(2) gives
// it. When interrupted, or when we are killed, it ends with all of its process group. kInterrupted then.
Result<int> RunShellCommand(const std::string& text, const Path& folder, const Path& log_file,
                            const std::atomic<bool>& interrupted);

}  // namespace assay::runner
