#include "runner/launch/exit_status.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>

namespace assay::runner {
namespace {

const char* Words(int signal_number) {
  const char* words = ::sigdescr_np(signal_number);
  return words != nullptr ? words : "unknown";
}

// Shells report a child's death by signal as 128 + signal; only the signals that end a program are read so.
std::optional<int> ShellSignal(int exit_code) {
  switch (exit_code - 128) {
    case SIGHUP:
    case SIGINT:
    case SIGILL:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGKILL:
    case SIGSEGV:
    case SIGTERM:
      return exit_code - 128;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string DescribeSignal(int signal_number) {
  return fmt::format("signal {} ({})", signal_number, Words(signal_number));
}

std::string DescribeExit(int wait_status) {
  if (WIFSIGNALED(wait_status)) return DescribeSignal(WTERMSIG(wait_status));
  const int code = WEXITSTATUS(wait_status);
  const auto signal_number = ShellSignal(code);
  if (!signal_number) return fmt::format("exit code {}", code);
  return fmt::format("exit code {} (128 + signal {}, {})", code, *signal_number, Words(*signal_number));
}

std::optional<int> DeathSignal(int wait_status) {
  if (WIFSIGNALED(wait_status)) return WTERMSIG(wait_status);
  return ShellSignal(WEXITSTATUS(wait_status));
}

}  // namespace assay::runner
