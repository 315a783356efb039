#include "runner/run/gpu_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <thread>

#include "base/clock.h"
#include "base/text.h"

namespace assay::runner {
namespace {

constexpr double kOthersMb = 512;  // that somebody else may have taken meanwhile
constexpr std::chrono::milliseconds kInterval{250};

std::optional<double> Number(std::string_view text) {
  text = Trim(text);
  double number = 0;
  const auto end = text.data() + text.size();
  if (std::from_chars(text.data(), end, number).ec != std::errc{}) return std::nullopt;
  return number;
}

// MB held on each GPU; empty unless all say.
std::vector<double> OfNvidia(const Probe& probe, const std::string& devices) {
  std::vector<double> held;
  for (const std::vector<double>& gpu : NvidiaNumbers(probe, "memory.used", devices))
    held.push_back(gpu.front());
  return held;
}

std::vector<double> OfAmd(const Probe& probe) {
  std::map<std::string, double> held;  // by name, which orders them
  std::error_code ignored;
  for (const auto& card : std::filesystem::directory_iterator(probe.root / "sys/class/drm", ignored)) {
    const auto bytes = Number(ReadFile(card.path() / "device/mem_info_vram_used").value_or(""));
    const std::string name = card.path().filename().string();
    if (bytes && StartsWith(name, "card") && name.find('-') == std::string::npos)
      held[name] = *bytes / (1024 * 1024);
  }
  std::vector<double> megabytes;
  for (const auto& [name, value] : held) megabytes.push_back(value);
  return megabytes;
}

std::vector<double> Held(const Probe& probe, const std::string& nvidia_devices) {
  const std::vector<double> held = OfNvidia(probe, nvidia_devices);
  return held.empty() ? OfAmd(probe) : held;
}

}  // namespace

GpuMemoryWatch::GpuMemoryWatch(Probe probe, std::string nvidia_devices)
    : probe_(std::move(probe)),
      nvidia_devices_(std::move(nvidia_devices)),
      before_(Held(probe_, nvidia_devices_)) {}

std::string GpuMemoryWatch::AwaitFreed(std::chrono::milliseconds limit,
                                       const std::atomic<bool>& interrupted) const {
  if (before_.empty()) return "";
  const TimePoint start = RealClock().Now(), end = start + limit;
  for (;;) {
    const std::vector<double> now = Held(probe_, nvidia_devices_);
    if (now.size() != before_.size()) return "";
    size_t most = 0;
    for (size_t gpu = 0; gpu < now.size(); ++gpu) {
      if (now[gpu] - before_[gpu] > now[most] - before_[most]) most = gpu;
    }
    const double more = now[most] - before_[most];
    if (more <= kOthersMb) return "";
    if (interrupted || RealClock().Now() >= end) {
      return fmt::format(
          "{:.0f} MB more than before the server started are still held on GPU {}, {:.0f} s after it stopped",
          more, most, Seconds(RealClock().Now() - start));
    }
    std::this_thread::sleep_for(kInterval);
  }
}

}  // namespace assay::runner
