#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "runner/plan/machine.h"

// How long this machine's NVIDIA GPUs ran slower than they could, by the driver's own counters.
namespace assay::runner {

// Watches over a benchmark.
class GpuClockWatch {
 public:
  // `devices` as nvidia-smi -i takes them: "0,1"; "": all.
  GpuClockWatch(Probe probe, std::string devices);
  // The share of the time since construction, 0 to 1, in which heat or a power brake held clocks back, of the
  // GPU where it is the largest; what two of the driver's reasons count at once counts twice. The limit of
  // power, which most cards meet under load, is no such reason. Nothing where the driver has no such counters
  // (before 565) or there is no GPU of NVIDIA.
  std::optional<double> HeldBackShare() const;

 private:
  Probe probe_;
  std::string devices_;
  TimePoint start_;
  std::vector<double> before_;  // [GPUs] microseconds
};

}  // namespace assay::runner
