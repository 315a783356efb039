#include "runner/launch/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <boost/process.hpp>
#include <boost/process/extend.hpp>
#include <csignal>
#include <string_view>

#include "base/text.h"

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

// Ours with the additions, as exec takes it. Not boost::process::environment: in Boost 1.74 its look-up reads
// past the end of variables that are shorter than the one looked for.
class ChildEnvironment {
 public:
  explicit ChildEnvironment(const std::map<std::string, std::string>& added) {
    for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (!added.contains(std::string(text.substr(0, text.find('='))))) entries_.emplace_back(text);
    }
    for (const auto& [name, value] : added) entries_.push_back(name + "=" + value);
    for (std::string& entry : entries_) pointers_.push_back(entry.data());
    pointers_.push_back(nullptr);
  }
  ChildEnvironment(const ChildEnvironment&) = delete;
  ChildEnvironment& operator=(const ChildEnvironment&) = delete;

  char** Pointers() { return pointers_.data(); }
  std::string Value(std::string_view name) const {
    const std::string prefix = std::string(name) + "=";
    for (const std::string& entry : entries_)
      if (StartsWith(entry, prefix)) return entry.substr(prefix.size());
    return "";
  }

 private:
  std::vector<std::string> entries_;
  std::vector<char*> pointers_;
};

struct PrepareChild : process::extend::handler {
  PrepareChild(char** child_environment, bool with_us)
      : environment(child_environment), dies_with_us(with_us) {}

  template <typename Executor>
  void on_setup(Executor& executor) const {
    executor.env = environment;
  }

  // Runs in the child between fork and exec: system calls only.
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

  char** environment;
  bool dies_with_us;
  pid_t parent = ::getpid();
};

boost::filesystem::path FindProgram(const std::string& name, const ChildEnvironment& environment) {
  if (name.find('/') != std::string::npos) return name;
  std::vector<boost::filesystem::path> folders;
  for (const std::string& folder : Split(environment.Value("PATH"), ':')) folders.emplace_back(folder);
  return process::search_path(name, folders);
}

pid_t Spawn(const ChildOptions& options, std::error_code& error) {
  ChildEnvironment environment(options.env);
  const boost::filesystem::path program = FindProgram(options.argv[0], environment);
  if (program.empty()) {
    error = std::make_error_code(std::errc::no_such_file_or_directory);
    return -1;
  }
  const std::vector<std::string> arguments(options.argv.begin() + 1, options.argv.end());
  const PrepareChild prepare(environment.Pointers(), options.dies_with_us);
  const auto start = [&](auto&& input) {
    process::child child(program, process::args(arguments), std::forward<decltype(input)>(input),
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
