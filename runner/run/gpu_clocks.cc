#include "runner/run/gpu_clocks.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace assay::runner {
namespace {

using Counters = std::vector<std::vector<double>>;

// Microseconds since the driver was loaded; empty unless every GPU says all.
Counters Read(const GpuClockWatch::RunProgram& run) {
  const auto output = run({"nvidia-smi",
                           "--query-gpu=clocks_event_reasons_counters.sw_thermal_slowdown,"
                           "clocks_event_reasons_counters.hw_thermal_slowdown,"
                           "clocks_event_reasons_counters.hw_power_brake_slowdown",
                           "--format=csv,noheader,nounits"});
  Counters counters;
  for (const std::string& line : SplitLines(output.value_or(""))) {
    std::vector<double>& gpu = counters.emplace_back();
    for (const std::string& field : Split(line, ',')) {
      const std::string_view text = Trim(field);
      double microseconds = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), microseconds).ec != std::errc{}) return {};
      gpu.push_back(microseconds);
    }
  }
  return counters;
}

}  // namespace

GpuClockWatch::GpuClockWatch(RunProgram run)
    : run_(std::move(run)), start_(RealClock().Now()), before_(Read(run_)) {}

std::optional<double> GpuClockWatch::HeldBackShare() const {
  if (before_.empty()) return std::nullopt;
  const double microseconds = Seconds(RealClock().Now() - start_) * 1e6;
  const Counters after = Read(run_);
  if (after.size() != before_.size()) return std::nullopt;
  double most = 0;
  for (size_t gpu = 0; gpu < after.size(); ++gpu) {
    if (after[gpu].size() != before_[gpu].size()) return std::nullopt;
    for (size_t reason = 0; reason < after[gpu].size(); ++reason)
      most = std::max(most, after[gpu][reason] - before_[gpu][reason]);
  }
  return std::min(1.0, most / microseconds);
}

}  // namespace assay::runner
