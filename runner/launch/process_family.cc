#include "runner/launch/process_family.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <sstream>

#include "base/file.h"

namespace assay::runner {
namespace {

std::optional<pid_t> ParsePid(const std::string& text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return pid;
}

bool EnvironmentHolds(pid_t pid, const std::string& variable) {
  const auto environment = ReadFile("/proc/" + std::to_string(pid) + "/environ");
  if (!environment) return false;
  return ('\0' + *environment).find('\0' + variable + '\0') != std::string::npos;
}

}  // namespace

std::optional<ProcessInfo> ParseProcessStat(std::string_view stat) {
  // "12 (a name) S 1 12 12 ...": the name may hold blanks and brackets, so it ends at the last one.
  const size_t open = stat.find('(');
  const size_t close = stat.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcessInfo process;
  process.name = stat.substr(open + 1, close - open - 1);
  std::istringstream before{std::string(stat.substr(0, open))};
  std::istringstream after{std::string(stat.substr(close + 1))};
  int terminal = 0, terminal_group = 0;
  before >> process.pid;
  after >> process.state >> process.parent >> process.group >> process.session >> terminal >>
      terminal_group >> process.flags;
  if (!before || !after) return std::nullopt;
  return process;
}

std::optional<ProcessInfo> ReadProcess(pid_t pid) {
  const auto stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  return stat ? ParseProcessStat(*stat) : std::nullopt;
}

std::optional<int64_t> ParseAnonymousMemory(std::string_view status) {
  constexpr std::string_view kName = "\nRssAnon:";
  const size_t at = status.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  std::istringstream rest{std::string(status.substr(at + kName.size(), 40))};
  int64_t kib = 0;
  rest >> kib;
  return rest ? std::optional(kib) : std::nullopt;
}

std::vector<ProcessInfo> AllProcesses() {
  std::vector<ProcessInfo> processes;
  std::error_code ended;
  for (std::filesystem::directory_iterator entry("/proc", ended), last; !ended && entry != last;
       entry.increment(ended)) {
    const auto pid = ParsePid(entry->path().filename().string());
    if (!pid) continue;
    if (auto process = ReadProcess(*pid)) processes.push_back(std::move(*process));
  }
  return processes;
}

bool ProcessFamily::Belongs(const ProcessInfo& process, const std::set<pid_t>& members) const {
  if (process.pid == leader_ || process.group == leader_ || process.session == leader_) return true;
  if (members.contains(process.parent)) return true;
  if (process.parent != ::getpid()) return false;
  return seen_.contains(process.pid) || EnvironmentHolds(process.pid, mark_);
}

std::vector<ProcessInfo> ProcessFamily::Alive() {
  const std::vector<ProcessInfo> processes = AllProcesses();
  std::set<pid_t> members;
  for (size_t before = 1; before != members.size();) {  // until no parent brings in another child
    before = members.size();
    for (const ProcessInfo& process : processes)
      if (Belongs(process, members)) members.insert(process.pid);
  }
  std::vector<ProcessInfo> alive;
  for (const ProcessInfo& process : processes) {
    if (!members.contains(process.pid)) continue;
    seen_.insert(process.pid);
    if (!process.Ended()) alive.push_back(process);
    // The leader stays a zombie until the end: so its number is not given to a stranger.
    if (process.Ended() && process.pid != leader_ && process.parent == ::getpid())
      ::waitpid(process.pid, nullptr, WNOHANG);
  }
  return alive;
}

std::optional<int64_t> ProcessFamily::Memory() {
  std::optional<int64_t> sum;
  for (const ProcessInfo& process : Alive()) {
    const auto status = ReadFile("/proc/" + std::to_string(process.pid) + "/status");
    if (!status) continue;  // it ended since
    if (const auto kib = ParseAnonymousMemory(*status)) sum = sum.value_or(0) + *kib * 1024;
  }
  return sum;
}

void ProcessFamily::Signal(int signal_number) {
  ::kill(-leader_, signal_number);
  for (const ProcessInfo& process : Alive())
    if (process.group != leader_) ::kill(process.pid, signal_number);
}

void MakeUsReaper() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

}  // namespace assay::runner
