#include "runner/launch/kill_evidence.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/file.h"
#include "base/text.h"

namespace assay::runner {
namespace {

constexpr std::chrono::seconds kClockDrift{2};

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

bool IsAbout(std::string_view message, pid_t pid) {
  const std::string number = std::to_string(pid);
  if (message.find("Killed process " + number + " ") != std::string_view::npos) return true;
  return message.find("Xid (") != std::string_view::npos &&
         message.find("pid=" + number + ",") != std::string_view::npos;
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

std::optional<std::string> KernelMessageAbout(std::string_view record, pid_t pid, TimePoint since) {
  const size_t end = record.find(';');
  if (end == std::string_view::npos) return std::nullopt;
  const std::vector<std::string> head = Split(record.substr(0, end), ',');
  if (head.size() < 4) return std::nullopt;
  // The kernel's log and our clock both count from the start of the machine, on clocks that drift a little.
  const TimePoint logged{std::chrono::microseconds(std::strtoll(head[2].c_str(), nullptr, 10))};
  const std::string_view message = record.substr(end + 1, record.find('\n', end) - end - 1);
  if (logged + kClockDrift < since || !IsAbout(message, pid)) return std::nullopt;
  return "kernel: " + std::string(message);
}

std::vector<std::string> KernelLinesAbout(pid_t pid, TimePoint since) {
  std::vector<std::string> lines;
  const int log = ::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (log < 0) return lines;
  char record[8192];
  for (;;) {
    const ssize_t size = ::read(log, record, sizeof record);
    if (size < 0 && errno == EPIPE) continue;  // records were overwritten while we read; go on behind them
    if (size <= 0) break;
    if (auto line = KernelMessageAbout({record, static_cast<size_t>(size)}, pid, since))
      lines.push_back(std::move(*line));
  }
  ::close(log);
  return lines;
}

}  // namespace assay::runner
