#pragma once

#include <atomic>

#include "base/clock.h"

namespace assay::testing {

// Time that moves only when a test says so; SleepUntil jumps to the time asked for. May be read by one thread
// while another moves it.
class FakeClock final : public Clock {
 public:
  TimePoint Now() const override { return now_.load(); }
  void SleepUntil(TimePoint when) override {
    if (when > now_.load()) now_ = when;
  }
  void Advance(Nanoseconds by) { now_ = now_.load() + by; }

 private:
  std::atomic<TimePoint> now_{};
};

}  // namespace assay::testing
