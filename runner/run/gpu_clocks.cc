#include "runner/run/gpu_clocks.h"

#include <algorithm>
#include <numeric>

namespace assay::runner {
namespace {

// Of each GPU, microseconds since the driver was loaded, all reasons together; empty unless every GPU says
// all.
std::vector<double> Read(const Probe& probe, const std::string& devices) {
  std::vector<double> sums;
  for (const std::vector<double>& reasons :
       NvidiaNumbers(probe,
                     "clocks_event_reasons_counters.sw_thermal_slowdown,"
                     "clocks_event_reasons_counters.hw_thermal_slowdown,"
                     "clocks_event_reasons_counters.hw_power_brake_slowdown",
                     devices))
    sums.push_back(std::accumulate(reasons.begin(), reasons.end(), 0.0));
  return sums;
}

}  // namespace

GpuClockWatch::GpuClockWatch(Probe probe, std::string devices)
    : probe_(std::move(probe)),
      devices_(std::move(devices)),
      start_(RealClock().Now()),
      before_(Read(probe_, devices_)) {}

std::optional<double> GpuClockWatch::HeldBackShare() const {
  if (before_.empty()) return std::nullopt;
  const double microseconds = Seconds(RealClock().Now() - start_) * 1e6;
  const std::vector<double> after = Read(probe_, devices_);
  if (after.size() != before_.size()) return std::nullopt;
  double most = 0;
  for (size_t gpu = 0; gpu < after.size(); ++gpu) most = std::max(most, after[gpu] - before_[gpu]);
  return std::min(1.0, most / microseconds);
}

}  // namespace assay::runner
