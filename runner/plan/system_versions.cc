#include <nlohmann/json.hpp>

#include "base/text.h"
#include "runner/plan/machine.h"

namespace assay::runner {
namespace {

std::string Line(const Path& file) {
  const std::string text = ReadFile(file).value_or("");
  return Printable(Trim(std::string_view(text).substr(0, text.find('\n'))));
}

// {"cuda": {"name": "CUDA SDK", "version": "12.8.1"}, ...}, as the toolkit installs it.
std::string CudaVersion(const Path& file) {
  const auto json = nlohmann::json::parse(ReadFile(file).value_or(""), nullptr, false);
  const nlohmann::json::json_pointer version("/cuda/version");
  if (!json.is_object() || !json.contains(version) || !json[version].is_string()) return "";
  return Printable(json[version].get<std::string>());
}

// "libc.so.6" of the loader's folder names no version, the package's status does: Debian and its relatives.
std::string LibcVersion(const Path& status) {
  bool ours = false;
  for (const std::string& line : SplitLines(ReadFile(status).value_or(""))) {
    if (StartsWith(line, "Package: ")) ours = line == "Package: libc6";
    if (ours && StartsWith(line, "Version: ")) return Printable(line.substr(9));
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> SystemVersions(const Probe& probe) {
  std::map<std::string, std::string> versions = {
      {"cuda", CudaVersion(probe.root / "usr/local/cuda/version.json")},
      {"rocm", Line(probe.root / "opt/rocm/.info/version")},
      {"libc", LibcVersion(probe.root / "var/lib/dpkg/status")},
  };
  std::erase_if(versions, [](const auto& entry) { return entry.second.empty(); });
  return versions;
}

std::string CpuClocks(const Probe& probe) {
  const Path cpu = probe.root / "sys/devices/system/cpu";
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const std::string& value, const char* unit) {
    if (!value.empty()) parts.push_back(fmt::format("{} {}{}", name, value, unit));
  };
  add("governor", Line(cpu / "cpu0/cpufreq/scaling_governor"), "");
  add("max", Line(cpu / "cpu0/cpufreq/scaling_max_freq"), " kHz");
  add("boost", Line(cpu / "cpufreq/boost"), "");
  add("no_turbo", Line(cpu / "intel_pstate/no_turbo"), "");
  return Join(parts, ", ");
}

}  // namespace assay::runner
