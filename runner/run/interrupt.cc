#include "runner/run/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <string_view>

namespace assay::runner {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only touch lock-free atomics");

extern "C" void OnSignal(int) {
  if (interrupted.exchange(true)) return;
  constexpr std::string_view kNotice = "\nassay: stopping, and keeping what was measured\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kNotice.data(), kNotice.size());
}

}  // namespace

const std::atomic<bool>& CatchInterrupts() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return interrupted;
}

}  // namespace assay::runner
