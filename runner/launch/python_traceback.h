#pragma once

#include <optional>
#include <string>
#include <vector>

namespace assay::runner {

// The exception that ends the last traceback of a log, "ValueError: no such thing", without a logger's
// prefix. One that only points elsewhere ("See root cause above") gives way to the one before it.
std::optional<std::string> LastPythonException(const std::vector<std::string>& lines);

}  // namespace assay::runner
