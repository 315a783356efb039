#include "runner/plan/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>

extern char** environ;

namespace assay::runner {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr size_t kMaxOutput = 1 << 20;

// stdout into the pipe, stdin from nowhere, in an own process group.
int Spawn(const std::vector<std::string>& argv, int write_end, Errors errors, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, write_end, STDOUT_FILENO);
  if (errors == Errors::kWithOutput) {
    posix_spawn_file_actions_adddup2(&files, write_end, STDERR_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<std::string> copies = argv;
  std::vector<char*> pointers;
  for (std::string& argument : copies) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const int error = ::posix_spawnp(&pid, pointers[0], &files, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

enum class End { kClosed, kTooLong, kTooMuch };

End ReadAll(int fd, SteadyClock::time_point deadline, std::string& output) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
    if (left <= 0) return End::kTooLong;
    pollfd wait = {fd, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left)) <= 0) continue;
    std::array<char, 4096> buffer;
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return End::kClosed;
    output.append(buffer.data(), static_cast<size_t>(n));
    if (output.size() > kMaxOutput) return End::kTooMuch;
  }
}

int Wait(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The status of a child that ends before the deadline.
bool WaitUntil(pid_t pid, SteadyClock::time_point deadline, int& status) {
  while (SteadyClock::now() < deadline) {
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return true;
    ::poll(nullptr, 0, 5);
  }
  return false;
}

}  // namespace

Result<ProgramEnd> RunProgram(const std::vector<std::string>& argv, std::chrono::milliseconds limit,
                              Errors errors) {
  const auto deadline = SteadyClock::now() + limit;
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Fail(ErrorKind::kInfrastructure, "{}: no pipe: {}", argv[0], std::strerror(errno));
  }
  pid_t pid = 0;
  const int error = Spawn(argv, ends[1], errors, pid);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return Fail(ErrorKind::kInfrastructure, "{} could not be started: {}", argv[0], std::strerror(error));
  }
  std::string output;
  const End end = ReadAll(ends[0], deadline, output);
  ::close(ends[0]);
  int status = 0;
  if (end != End::kClosed || !WaitUntil(pid, deadline, status)) {
    ::kill(-pid, SIGKILL);
    Wait(pid);
    return Fail(ErrorKind::kInfrastructure, "{} {}", argv[0],
                end == End::kTooMuch
                    ? std::string("wrote without end")
                    : fmt::format("did not answer within {} s", static_cast<double>(limit.count()) / 1000));
  }
  if (!WIFEXITED(status))
    return Fail(ErrorKind::kInfrastructure, "{} failed (signal {})", argv[0], WTERMSIG(status));
  return ProgramEnd{WEXITSTATUS(status), std::move(output)};
}

Result<std::string> ProgramOutput(const std::vector<std::string>& argv, std::chrono::milliseconds limit) {
  ASSIGN_OR_RETURN(ProgramEnd end, RunProgram(argv, limit, Errors::kDropped));
  if (end.exit_code != 0)
    return Fail(ErrorKind::kInfrastructure, "{} failed (exit code {})", argv[0], end.exit_code);
  return std::move(end.output);
}

}  // namespace assay::runner
