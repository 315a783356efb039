#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the kernel says about processes it ended. Reading it may be forbidden; then nothing is known.
namespace assay::runner {

// How many processes of our control group the kernel has killed for memory so far.
std::optional<int64_t> OomKills();
// The number behind "oom_kill " in memory.events (cgroup 2) or memory.oom_control (cgroup 1).
std::optional<int64_t> ParseOomKills(std::string_view events);

// Lines of the kernel's log about this process: the out-of-memory killer, a GPU driver's error.
std::vector<std::string> KernelLinesAbout(pid_t pid);
bool IsKernelLineAbout(std::string_view line, pid_t pid);

}  // namespace assay::runner
