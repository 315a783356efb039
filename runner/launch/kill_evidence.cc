#include "runner/launch/kill_evidence.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "base/file.h"
#include "base/text.h"

namespace assay::runner {
namespace {

// The files that may hold our counter, from the lines of /proc/self/cgroup: "0::/a/b" or "4:memory:/a/b".
std::vector<Path> CounterFiles() {
  std::vector<Path> files;
  const auto groups = ReadFile("/proc/self/cgroup");
  if (!groups) return files;
  for (const std::string& line : SplitLines(*groups)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) files.push_back("/sys/fs/cgroup" + group + "/memory.events");
    if (controllers == "memory") files.push_back("/sys/fs/cgroup/memory" + group + "/memory.oom_control");
  }
  return files;
}

}  // namespace

std::optional<int64_t> ParseOomKills(std::string_view events) {
  for (const std::string& line : SplitLines(events)) {
    if (!StartsWith(line, "oom_kill ")) continue;
    int64_t count = 0;
    const char* begin = line.data() + 9;
    if (std::from_chars(begin, line.data() + line.size(), count).ec == std::errc()) return count;
  }
  return std::nullopt;
}

std::optional<int64_t> OomKills() {
  for (const Path& file : CounterFiles())
    if (const auto events = ReadFile(file))
      if (const auto count = ParseOomKills(*events)) return count;
  return std::nullopt;
}

bool IsKernelLineAbout(std::string_view line, pid_t pid) {
  const std::string number = std::to_string(pid);
  if (line.find("Killed process " + number + " ") != std::string_view::npos) return true;
  return line.find("Xid (") != std::string_view::npos &&
         line.find("pid=" + number + ",") != std::string_view::npos;
}

std::vector<std::string> KernelLinesAbout(pid_t pid) {
  std::vector<std::string> lines;
  const int log = ::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (log < 0) return lines;
  char record[8192];
  for (;;) {
    const ssize_t size = ::read(log, record, sizeof record);
    if (size < 0 && errno == EPIPE) continue;  // records were overwritten while we read; go on behind them
    if (size <= 0) break;
    const std::string_view text(record, static_cast<size_t>(size));
    const size_t message = text.find(';');  // "priority,sequence,time,flags;message"
    if (message == std::string_view::npos) continue;
    const std::string_view line = text.substr(message + 1, text.find('\n', message) - message - 1);
    if (IsKernelLineAbout(line, pid)) lines.push_back("kernel: " + std::string(line));
  }
  ::close(log);
  return lines;
}

}  // namespace assay::runner
