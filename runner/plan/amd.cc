#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>

#include "base/text.h"
#include "runner/plan/machine.h"

namespace assay::runner {
namespace {

// "name value" lines, as the kernel's compute driver writes its topology.
std::map<std::string, int64_t> Properties(const Path& file) {
  std::map<std::string, int64_t> properties;
  for (const std::string& line : SplitLines(ReadFile(file).value_or(""))) {
    const std::vector<std::string> parts = Split(line, ' ');
    if (parts.size() != 2) continue;
    std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), properties[parts[0]]);
  }
  return properties;
}

int64_t MemoryMb(const Path& node) {
  int64_t bytes = 0;
  std::error_code ignored;
  for (const auto& bank : std::filesystem::directory_iterator(node / "mem_banks", ignored)) {
    bytes += Properties(bank.path() / "properties")["size_in_bytes"];
  }
  return bytes / (1024 * 1024);
}

// What the graphics driver says of the same device.
void AddSettings(const Probe& probe, int64_t render_minor, Gpu& gpu) {
  if (render_minor <= 0) return;
  const Path device = probe.root / "sys/class/drm" / fmt::format("renderD{}", render_minor) / "device";
  const auto text = [](const Path& file) { return Printable(Trim(ReadFile(file).value_or(""))); };
  std::vector<std::string> clocks;
  if (const std::string level = text(device / "power_dpm_force_performance_level"); !level.empty())
    clocks.push_back("performance level " + level);
  std::error_code ignored;
  for (const auto& monitor : std::filesystem::directory_iterator(device / "hwmon", ignored)) {
    const std::string cap = text(monitor.path() / "power1_cap");
    int64_t microwatts = 0;
    std::from_chars(cap.data(), cap.data() + cap.size(), microwatts);
    if (microwatts > 0) clocks.push_back(fmt::format("power {} W", microwatts / 1000000));
  }
  gpu.clocks = Join(clocks, ", ");
  gpu.firmware = text(device / "vbios_version");
}

constexpr char kComputeDevice[] = "dev/kfd";

// Of a GPU that the driver shows and a program cannot open.
void NoteWhatKeepsItShut(const Probe& probe, std::vector<std::string>& notes) {
  const Path device = probe.root / kComputeDevice;
  if (::access(device.c_str(), R_OK | W_OK) == 0) return;
  notes.push_back(
      errno == ENOENT
          ? "the AMD GPU cannot be used: there is no /dev/kfd; a container needs --device=/dev/kfd "
            "--device=/dev/dri"
          : "the AMD GPU cannot be used: this user may not open /dev/kfd; join the groups render and "
            "video");
}

// Accelerators on the bus that the driver does not show. Graphics cards have another class, and may well be
// for a screen alone.
void NoteWhatHasNoDriver(const Probe& probe, std::vector<std::string>& notes) {
  std::error_code ignored;
  for (const auto& device :
       std::filesystem::directory_iterator(probe.root / "sys/bus/pci/devices", ignored)) {
    const auto line = [&](const char* file) {
      return Printable(Trim(ReadFile(device.path() / file).value_or("")));
    };
    const std::string kind = line("class");
    if (line("vendor") != "0x1002" || !(StartsWith(kind, "0x1200") || StartsWith(kind, "0x0380"))) continue;
    notes.push_back(
        fmt::format("an AMD accelerator is at {} of the PCI bus and the driver does not show it; load "
                    "the kernel's amdgpu (modprobe amdgpu)",
                    device.path().filename().string()));
    return;
  }
}

}  // namespace

std::string GfxName(int64_t version) {
  return fmt::format("gfx{}{:x}{:x}", version / 10000, version / 100 % 100, version % 100);
}

std::vector<Gpu> DetectAmd(const Probe& probe, std::vector<std::string>& notes) {
  std::vector<Path> nodes;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(probe.root / "sys/class/kfd/kfd/topology/nodes", ignored)) {
    nodes.push_back(entry.path());
  }
  std::sort(nodes.begin(), nodes.end());
  const std::string driver(Trim(ReadFile(probe.root / "sys/module/amdgpu/version").value_or("")));
  std::vector<Gpu> gpus;
  for (const Path& node : nodes) {
    const int64_t version = Properties(node / "properties")["gfx_target_version"];
    if (version <= 0) continue;  // a node of CPUs
    const std::string name = ReadFile(node / "name").value_or("");
    Gpu gpu;
    gpu.hardware = GfxName(version);
    gpu.name = Trim(name).empty() ? "AMD " + gpu.hardware : Printable(Trim(name));
    gpu.driver = driver;
    gpu.memory_mb = MemoryMb(node);
    AddSettings(probe, Properties(node / "properties")["drm_render_minor"], gpu);
    gpus.push_back(std::move(gpu));
  }
  if (gpus.empty()) {
    NoteWhatHasNoDriver(probe, notes);
  } else {
    NoteWhatKeepsItShut(probe, notes);
  }
  return gpus;
}

}  // namespace assay::runner
