#include "runner/plan/machine.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "runner/config/hardware_names.h"
#include "runner/plan/program_output.h"

namespace assay::runner {
namespace {

constexpr std::chrono::seconds kProgramLimit{20};  // nvidia-smi takes seconds when the driver wakes up

std::string Text(const Path& path) {
  return ReadFile(path).value_or("");
}

// "model name\t: AMD EPYC" of a key: value file; the first one.
std::string Value(const std::string& text, std::string_view key) {
  for (const std::string& line : SplitLines(text)) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || Trim(std::string_view(line).substr(0, colon)) != key) continue;
    return Printable(Trim(std::string_view(line).substr(colon + 1)));
  }
  return "";
}

std::string CpuName(const std::string& cpuinfo, const std::string& architecture) {
  const std::string name = Value(cpuinfo, "model name");
  if (!name.empty()) return name;
  const std::string implementer = Value(cpuinfo, "CPU implementer");  // Arm has no name there
  return implementer.empty() ? architecture
                             : fmt::format("{} implementer {} part {}", architecture, implementer,
                                           Value(cpuinfo, "CPU part"));
}

int64_t MemoryMb(const std::string& meminfo) {
  const std::string text = Value(meminfo, "MemTotal");  // "32883252 kB"
  int64_t kilobytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kilobytes);
  return kilobytes / 1024;
}

std::string OsName(const std::string& release) {
  for (const std::string& line : SplitLines(release)) {
    if (!StartsWith(line, "PRETTY_NAME=")) continue;
    return ReplaceAll(line.substr(std::string_view("PRETTY_NAME=").size()), "\"", "");
  }
  return "";
}

// The machine's identity without naming it.
std::string HostHash(const Probe& probe) {
  for (const char* file : {"etc/machine-id", "var/lib/dbus/machine-id", "proc/sys/kernel/hostname"}) {
    const std::string text = Text(probe.root / file);
    const std::string_view id = Trim(text);
    if (!id.empty() && id != "uninitialized") return Sha256(fmt::format("assay host {}", id)).substr(0, 16);
  }
  return "";
}

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

int CountProcessors(const std::string& cpuinfo) {
  const std::vector<std::string> lines = SplitLines(cpuinfo);
  return static_cast<int>(std::count_if(
      lines.begin(), lines.end(), [](const std::string& line) { return StartsWith(line, "processor"); }));
}

std::string GpuWords(const std::vector<Gpu>& gpus) {
  std::map<std::string, int> counts;
  for (const Gpu& gpu : gpus) ++counts[fmt::format("{} ({})", gpu.hardware, gpu.name)];
  std::vector<std::string> words;
  for (const auto& [kind, count] : counts) words.push_back(fmt::format("{} x {}", count, kind));
  return words.empty() ? "no GPU" : Join(words, " and ");
}

// " (MI350X, MI355X)"; nothing where a kind of machine is called as its product is.
std::string ProductsOf(const std::string& hardware) {
  const HardwareName* known = FindHardware(hardware);
  const bool named = known != nullptr && known->vendor == HardwareVendor::kAmd && !known->products.empty();
  return named ? " (" + Join(known->products, ", ") + ")" : "";
}

}  // namespace

Probe Probe::OfThisMachine() {
  Probe probe;
  probe.run = [](const std::vector<std::string>& argv) { return ProgramOutput(argv, kProgramLimit); };
  return probe;
}

Machine DetectMachine(const Probe& probe) {
  utsname name = {};
  ::uname(&name);
  Machine machine;
  const std::string cpuinfo = Text(probe.root / "proc/cpuinfo");
  machine.cpu = CpuName(cpuinfo, name.machine);
  machine.cores = probe.root == "/" ? UsableCores() : CountProcessors(cpuinfo);
  machine.memory_mb = MemoryMb(Text(probe.root / "proc/meminfo"));
  machine.os = OsName(Text(probe.root / "etc/os-release"));
  machine.kernel = std::string(Trim(Text(probe.root / "proc/sys/kernel/osrelease")));
  machine.host = HostHash(probe);
  machine.clocks = CpuClocks(probe);
  machine.versions = SystemVersions(probe);
  machine.gpus = DetectNvidia(probe, machine.notes);
  for (Gpu& gpu : DetectAmd(probe, machine.notes)) machine.gpus.push_back(std::move(gpu));
  return machine;
}

std::string MachineWords(const Machine& machine) {
  std::string words = fmt::format("cpu ({}, {} core{}) and {}", machine.cpu, machine.cores,
                                  machine.cores == 1 ? "" : "s", GpuWords(machine.gpus));
  for (const std::string& note : machine.notes) words += "; " + note;
  return words;
}

Status CheckHardware(const std::string& wanted, int ranks, const Machine& machine) {
  if (wanted == "cpu") return {};
  const auto count = std::count_if(machine.gpus.begin(), machine.gpus.end(),
                                   [&](const Gpu& gpu) { return gpu.hardware == wanted; });
  if (count == 0) {
    return Fail(
        ErrorKind::kInvalid,
        "hardware: {}{} is needed and this machine has {}; run it on a machine with {}, or choose a config "
        "for what is here",
        wanted, ProductsOf(wanted), MachineWords(machine), wanted);
  }
  if (count < ranks) {
    return Fail(
        ErrorKind::kInvalid,
        "engine.tensor_parallel_size: {} GPUs of {} are needed and this machine has {}; run it on a larger "
        "machine, or lower it",
        ranks, wanted, MachineWords(machine));
  }
  return {};
}

record::Fingerprint ToFingerprint(const Machine& machine, const std::string& hardware) {
  record::Fingerprint fingerprint;
  fingerprint.hardware = "cpu";
  fingerprint.device = machine.cpu;
  fingerprint.devices = machine.cores;
  fingerprint.memory_mb = machine.memory_mb;
  fingerprint.os = machine.os;
  fingerprint.kernel = machine.kernel;
  fingerprint.host = machine.host;
  fingerprint.clocks = machine.clocks;
  fingerprint.versions = machine.versions;
  const auto first = std::find_if(machine.gpus.begin(), machine.gpus.end(),
                                  [&](const Gpu& gpu) { return gpu.hardware == hardware; });
  if (first == machine.gpus.end()) return fingerprint;
  fingerprint.hardware = first->hardware;
  fingerprint.device = first->name;
  fingerprint.devices = static_cast<int>(std::count_if(
      machine.gpus.begin(), machine.gpus.end(), [&](const Gpu& gpu) { return gpu.hardware == hardware; }));
  fingerprint.memory_mb = first->memory_mb;
  fingerprint.driver = first->driver;
  fingerprint.clocks = first->clocks;
  fingerprint.ecc = first->ecc;
  if (!first->firmware.empty()) fingerprint.versions["firmware"] = first->firmware;
  return fingerprint;
}

}  // namespace assay::runner
