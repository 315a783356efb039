#pragma once

#include <chrono>
#include <string>

namespace assay {

using Nanoseconds = std::chrono::nanoseconds;
using TimePoint = std::chrono::steady_clock::time_point;

// Steady time as an input, so that pacing and watchdogs are tested at their exact edge.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
  virtual void SleepUntil(TimePoint when) = 0;
};

Clock& RealClock();

double Seconds(Nanoseconds duration);
double Milliseconds(Nanoseconds duration);

// Wall time, "2026-11-30T15:54:48Z".
std::string UtcNow();
// "20261130-155448-1a2b": sortable, unique enough for a folder name.
std::string NewRunId();

}  // namespace assay
