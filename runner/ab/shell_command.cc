#include "runner/ab/shell_command.h"

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>

#include "runner/launch/child_process.h"
#include "runner/launch/guardian.h"

namespace assay::runner {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{20};
constexpr std::chrono::seconds kTermWait{5};

// The status, once there is one.
std::optional<int> Ended(pid_t pid) {
  int status = 0;
  return ::waitpid(pid, &status, WNOHANG) == pid ? std::optional(status) : std::nullopt;
}

void EndGroup(pid_t group) {
  ::kill(-group, SIGTERM);
  const auto give_up = steady_clock::now() + kTermWait;
  bool ended = false;
  while (!ended && steady_clock::now() < give_up) {
    ended = Ended(group).has_value();
    if (!ended) std::this_thread::sleep_for(kPause);
  }
  ::kill(-group, SIGKILL);  // what the leader left behind, too
  if (!ended) ::waitpid(group, nullptr, 0);
}

}  // namespace

Result<int> RunShellCommand(const std::string& text, const Path& folder, const Path& log_file,
                            const std::atomic<bool>& interrupted) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(std::fopen(log_file.c_str(), "ae"), &std::fclose);
  if (!log)
    return Fail(ErrorKind::kInfrastructure, "cannot write {}: {}", log_file.string(), std::strerror(errno));
  ASSIGN_OR_RETURN(const auto guardian, Guardian::Start());
  ChildOptions options;
  options.argv = {"/bin/sh", "-c", "cd \"$1\" || exit 125; eval \"$2\"", "sh", folder.string(), text};
  options.out = options.err = log.get();
  ASSIGN_OR_RETURN(const pid_t pid, SpawnChild(options));
  guardian->Guard(pid);
  for (;;) {
    if (const auto status = Ended(pid)) {
      ::kill(-pid, SIGKILL);  // what a build left in the background would run beside the measurement
      return *status;
    }
    if (interrupted) {
      EndGroup(pid);
      return Fail(ErrorKind::kInterrupted, "interrupted during: {}", text);
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace assay::runner
