#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::runner {

// Standard output of a small program found in PATH. One that is missing, fails, writes without end or takes
// longer than the limit (then it is killed) is an error that says which.
Result<std::string> ProgramOutput(const std::vector<std::string>& argv, std::chrono::milliseconds limit);

}  // namespace assay::runner
