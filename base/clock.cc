#include "base/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <random>
#include <thread>

namespace assay {
namespace {

class SteadyClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }
  void SleepUntil(TimePoint when) override { std::this_thread::sleep_until(when); }
};

}  // namespace

Clock& RealClock() {
  static SteadyClock clock;
  return clock;
}

double Seconds(Nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

double Milliseconds(Nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::string UtcNow() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string NewRunId() {
  return fmt::format("{:%Y%m%d-%H%M%S}-{:04x}", fmt::gmtime(std::time(nullptr)),
                     std::random_device{}() & 0xffff);
}

}  // namespace assay
