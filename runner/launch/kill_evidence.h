#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

// What the kernel says about processes it ended. Reading it may be forbidden; then nothing is known.
namespace assay::runner {

// How many processes of our control group the kernel has killed for memory so far.
std::optional<int64_t> OomKills();
// The number behind "oom_kill " in memory.events (cgroup 2) or memory.oom_control (cgroup 1).
std::optional<int64_t> ParseOomKills(std::string_view events);

// Lines of the kernel's log about this process: the out-of-memory killer, a GPU driver's error. Older ones
// are about another process that had the same number.
std::vector<std::string> KernelLinesAbout(pid_t pid, TimePoint since);
// `record` as /dev/kmsg gives it: "priority,sequence,microseconds,flags;message".
std::optional<std::string> KernelMessageAbout(std::string_view record, pid_t pid, TimePoint since);

}  // namespace assay::runner
