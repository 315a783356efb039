#pragma once

#include "base/clock.h"

namespace assay::testing {

// Time that moves only when a test says so; SleepUntil jumps to the time asked for.
class FakeClock final : public Clock {
 public:
  TimePoint Now() const override { return now_; }
  void SleepUntil(TimePoint when) override { now_ = when > now_ ? when : now_; }
  void Advance(Nanoseconds by) { now_ += by; }

 private:
  TimePoint now_{};
};

}  // namespace assay::testing
