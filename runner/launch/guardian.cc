#include "runner/launch/guardian.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

#include "runner/launch/child_process.h"

namespace assay::runner {
namespace {

// The first line is the group; the second never comes, so `read` returns when the pipe's other end is closed.
constexpr char kScript[] = "read -r group && { read -r never; kill -KILL -\"$group\"; }";

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

}  // namespace

Result<std::unique_ptr<Guardian>> Guardian::Start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return Fail(ErrorKind::kInfrastructure, "cannot make a pipe: {}", std::strerror(errno));
  const File input(::fdopen(ends[0], "r"), &std::fclose);
  const File nowhere(std::fopen("/dev/null", "we"), &std::fclose);
  ChildOptions options;
  options.argv = {"/bin/sh", "-c", kScript};
  options.in = input.get();
  options.out = options.err = nowhere.get();
  options.dies_with_us = false;
  const auto shell = SpawnChild(options);
  if (!shell) {
    ::close(ends[1]);
    return FailWithin("guarding the server", shell.error());
  }
  return std::unique_ptr<Guardian>(new Guardian(*shell, ends[1]));
}

Guardian::~Guardian() {
  ::kill(shell_, SIGKILL);  // before the pipe closes, or it would do its work
  ::waitpid(shell_, nullptr, 0);
  ::close(pipe_);
}

void Guardian::Guard(pid_t group) {
  const std::string line = std::to_string(group) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(pipe_, line.data(), line.size());
}

}  // namespace assay::runner
