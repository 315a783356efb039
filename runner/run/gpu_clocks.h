#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

// How long this machine's NVIDIA GPUs ran slower than they could, by the driver's own counters.
namespace assay::runner {

// Watches over a benchmark.
class GpuClockWatch {
 public:
  // Standard output of a program, or why there is none: Probe::run, for nvidia-smi.
  using RunProgram = std::function<Result<std::string>(const std::vector<std::string>& argv)>;

  // `devices` as nvidia-smi -i takes them: "0,1"; "": all.
  GpuClockWatch(RunProgram run, std::string devices);
  // The share of the time since construction, 0 to 1, in which heat or a power brake held clocks back, of the
  // GPU where it is the largest; what two of the driver's reasons count at once counts twice. The limit of
  // power, which most cards meet under load, is no such reason. Nothing where the driver has no such counters
  // (before 565) or there is no GPU of NVIDIA.
  std::optional<double> HeldBackShare() const;

 private:
  RunProgram run_;
  std::string devices_;
  TimePoint start_;
  std::vector<double> before_;  // [GPUs] microseconds
};

}  // namespace assay::runner
