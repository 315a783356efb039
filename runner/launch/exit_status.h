#pragma once

#include <optional>
#include <string>

namespace assay::runner {

// A status as wait(2) gives it, in words: "exit code 3", "signal 11 (Segmentation fault)",
// "exit code 139 (128 + signal 11, Segmentation fault)", as a shell in between reports it.
std::string DescribeExit(int wait_status);

// The signal that ended the process, also when a shell in between turned it into 128 + signal.
std::optional<int> DeathSignal(int wait_status);

// "signal 9 (Killed)"
std::string DescribeSignal(int signal_number);

}  // namespace assay::runner
