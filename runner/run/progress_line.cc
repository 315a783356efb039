#include "runner/run/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "base/clock.h"

namespace assay::runner {
namespace {

constexpr auto kTerminalPeriod = std::chrono::milliseconds(200);
constexpr auto kPlainPeriod = std::chrono::seconds(30);
constexpr auto kStopPoll = std::chrono::milliseconds(20);

}  // namespace

std::string ProgressText(const std::string& what, int64_t done, int64_t planned, int64_t in_flight,
                         int64_t tokens, double elapsed_s) {
  std::string text = fmt::format("{} {}/{}  in flight {}", what, done, planned, in_flight);
  if (elapsed_s > 0) text += fmt::format("  {:.0f} tok/s", static_cast<double>(tokens) / elapsed_s);
  if (done > 0 && done < planned) {
    text += fmt::format("  {:.0f} s to go",
                        elapsed_s * static_cast<double>(planned - done) / static_cast<double>(done));
  }
  return text;
}

ProgressLine::ProgressLine(std::string what, const evals::Progress& progress)
    : what_(std::move(what)), progress_(progress), thread_([this] { Loop(); }) {}

ProgressLine::~ProgressLine() {
  stop_ = true;
  thread_.join();
}

void ProgressLine::Loop() {
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const auto start = RealClock().Now();
  auto next = start + (terminal ? Nanoseconds(kTerminalPeriod) : Nanoseconds(kPlainPeriod));
  while (!stop_) {
    RealClock().SleepUntil(RealClock().Now() + kStopPoll);
    const auto now = RealClock().Now();
    if (now < next) continue;
    next = now + (terminal ? Nanoseconds(kTerminalPeriod) : Nanoseconds(kPlainPeriod));
    const std::string text = ProgressText(what_, progress_.done, progress_.planned, progress_.in_flight,
                                          progress_.tokens, Seconds(now - start));
    std::fprintf(stderr, terminal ? "\r\033[K%s" : "%s\n", text.c_str());
    std::fflush(stderr);
  }
  if (terminal) std::fputs("\r\033[K", stderr);
}

}  // namespace assay::runner
