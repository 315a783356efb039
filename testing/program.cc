#include "testing/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "base/check.h"

namespace assay::testing {
namespace {

std::string Content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

[[noreturn]] void Exec(std::vector<std::string> argv, const std::map<std::string, std::string>& env,
                       const std::string& folder, const TempDir& files) {
  ::setpgid(0, 0);
  const auto redirect = [&](const char* name, int to) {
    ::dup2(::open((files / name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), to);
  };
  redirect("out", STDOUT_FILENO);
  redirect("err", STDERR_FILENO);
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  for (const auto& [name, value] : env) ::setenv(name.c_str(), value.c_str(), 1);
  if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(126);
  std::vector<char*> arguments;
  for (std::string& argument : argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

bool IsZombie(const std::filesystem::path& process) {
  const std::string stat = Content(process / "stat");
  const size_t after_name = stat.rfind(')');
  return after_name == std::string::npos || after_name + 2 >= stat.size() || stat[after_name + 2] == 'Z';
}

}  // namespace

Program::Program(std::vector<std::string> argv, std::map<std::string, std::string> env,
                 const std::string& folder) {
  pid_ = ::fork();
  CHECK_GE(pid_, 0);
  if (pid_ == 0) Exec(std::move(argv), env, folder, files_);
  ::setpgid(pid_, pid_);  // also here, so that Signal works at once
}

Program::~Program() {
  if (Running()) {
    Signal(SIGKILL);
    Wait();
  }
}

void Program::Signal(int signal) const {
  ::kill(-pid_, signal);
}

bool Program::Running() {
  if (exit_code_ >= 0) return false;
  int status = 0;
  const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
  if (ended != pid_) return true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

int Program::Wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (Running()) {
    if (std::chrono::steady_clock::now() > deadline) return -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return exit_code_;
}

std::string Program::Out() const {
  return Content(files_ / "out");
}
std::string Program::Err() const {
  return Content(files_ / "err");
}

std::vector<pid_t> ProcessesWith(const std::string& text) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (Content(entry.path() / "cmdline").find(text) == std::string::npos || IsZombie(entry.path())) continue;
    found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

}  // namespace assay::testing
