#include "runner/launch/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/process.hpp>
#include <boost/process/extend.hpp>
#include <csignal>

namespace assay::runner {
namespace {

namespace process = boost::process;

constexpr unsigned kCloseRangeCloexec = 1u << 2;  // CLOSE_RANGE_CLOEXEC, Linux 5.11
constexpr int kMostDescriptors = 65536;           // swept one by one where close_range is missing

// Marked, not closed: Boost's own pipe, which reports a failing exec, is among them.
void CloseAllButStandardOnExec() {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, 3u, ~0u, kCloseRangeCloexec) == 0) return;
#endif
  for (int fd = 3; fd < kMostDescriptors; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void ResetSignals() {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal_number : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD, SIGUSR1, SIGUSR2})
    std::signal(signal_number, SIG_DFL);
}

// Runs in the child between fork and exec: system calls only.
struct PrepareChild : process::extend::handler {
  explicit PrepareChild(bool with_us) : dies_with_us(with_us) {}

  template <typename Executor>
  void on_exec_setup(Executor&) const {
    ::setsid();
    if (dies_with_us) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);  // we were killed before the line above took hold
    }
    ResetSignals();
    CloseAllButStandardOnExec();
  }

  bool dies_with_us;
  pid_t parent = ::getpid();
};

boost::filesystem::path FindProgram(const std::string& name, const process::environment& environment) {
  if (name.find('/') != std::string::npos) return name;
  std::vector<boost::filesystem::path> folders;
  const auto path = environment.find("PATH");
  if (path != environment.end())
    for (const std::string& folder : path->to_vector()) folders.emplace_back(folder);
  return process::search_path(name, folders);
}

pid_t Spawn(const ChildOptions& options, std::error_code& error) {
  process::environment environment = boost::this_process::environment();
  for (const auto& [name, value] : options.env) environment[name] = value;
  const boost::filesystem::path program = FindProgram(options.argv[0], environment);
  if (program.empty()) {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
    return -1;
  }
  const std::vector<std::string> arguments(options.argv.begin() + 1, options.argv.end());
  const PrepareChild prepare(options.dies_with_us);
  const auto start = [&](auto&& input) {
    process::child child(program, process::args(arguments), environment, std::forward<decltype(input)>(input),
                         process::std_out > options.out, process::std_err > options.err, prepare, error);
    const pid_t pid = child.id();
    child.detach();  // ours to wait for: Boost's wait would free the number while its group may still live
    return pid;
  };
  if (options.in != nullptr) return start(process::std_in < options.in);
  return start(process::std_in < process::null);
}

}  // namespace

Result<pid_t> SpawnChild(const ChildOptions& options) {
  std::string what;
  try {
    std::error_code error;
    const pid_t pid = Spawn(options, error);
    if (!error) return pid;
    what = error.message();
  } catch (const std::exception& error) {
    what = error.what();
  }
  return Fail(ErrorKind::kInfrastructure, "cannot start {}: {}", options.argv[0], what);
}

}  // namespace assay::runner
