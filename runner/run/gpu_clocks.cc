#include "runner/run/gpu_clocks.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace assay::runner {
namespace {

// Of each GPU, microseconds since the driver was loaded, all reasons together; empty unless every GPU says
// all.
std::vector<double> Read(const GpuClockWatch::RunProgram& run, const std::string& devices) {
  std::vector<std::string> argv{"nvidia-smi",
                                "--query-gpu=clocks_event_reasons_counters.sw_thermal_slowdown,"
                                "clocks_event_reasons_counters.hw_thermal_slowdown,"
                                "clocks_event_reasons_counters.hw_power_brake_slowdown",
                                "--format=csv,noheader,nounits"};
  if (!devices.empty()) argv.insert(argv.end(), {"-i", devices});
  const auto output = run(argv);
  std::vector<double> counters;
  for (const std::string& line : SplitLines(output.value_or(""))) {
    double& sum = counters.emplace_back(0);
    for (const std::string& field : Split(line, ',')) {
      const std::string_view text = Trim(field);
      double microseconds = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), microseconds).ec != std::errc{}) return {};
      sum += microseconds;
    }
  }
  return counters;
}

}  // namespace

GpuClockWatch::GpuClockWatch(RunProgram run, std::string devices)
    : run_(std::move(run)),
      devices_(std::move(devices)),
      start_(RealClock().Now()),
      before_(Read(run_, devices_)) {}

std::optional<double> GpuClockWatch::HeldBackShare() const {
  if (before_.empty()) return std::nullopt;
  const double microseconds = Seconds(RealClock().Now() - start_) * 1e6;
  const std::vector<double> after = Read(run_, devices_);
  if (after.size() != before_.size()) return std::nullopt;
  double most = 0;
  for (size_t gpu = 0; gpu < after.size(); ++gpu) most = std::max(most, after[gpu] - before_[gpu]);
  return std::min(1.0, most / microseconds);
}

}  // namespace assay::runner
