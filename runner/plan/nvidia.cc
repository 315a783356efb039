#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "runner/config/hardware_names.h"
#include "runner/plan/machine.h"

namespace assay::runner {
namespace {

constexpr char kDriverFolder[] = "proc/driver/nvidia";

// Letters and digits in runs: "NVIDIA GH200 480GB" holds the word GH200 and not H200.
std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::string HardwareOf(const std::string& name) {
  std::vector<std::string> words = Words(name);
  for (const HardwareName& hardware : HardwareNames()) {
    if (hardware.vendor != HardwareVendor::kNvidia) continue;
    if (std::find(words.begin(), words.end(), hardware.marker) != words.end()) return hardware.name;
  }
  std::erase(words, "NVIDIA");
  return words.empty() ? "nvidia" : ToLower(Join(words, "-"));
}

// One GPU from "NVIDIA H200, 580.82.07, 143771"; a field the driver cannot give is "[N/A]" or the like.
std::optional<Gpu> ParseRow(const std::string& line) {
  const std::vector<std::string> fields = Split(line, ',');
  if (fields.size() != 3 || Trim(fields[0]).empty() || Trim(fields[0]).front() == '[') return std::nullopt;
  Gpu gpu;
  gpu.name = Printable(Trim(fields[0]));
  if (gpu.name.empty()) return std::nullopt;
  gpu.hardware = HardwareOf(gpu.name);
  const std::string_view driver = Trim(fields[1]);
  if (!StartsWith(driver, "[")) gpu.driver = Printable(driver);
  const std::string_view memory = Trim(fields[2]);
  std::from_chars(memory.data(), memory.data() + memory.size(), gpu.memory_mb);
  return gpu;
}

// Without nvidia-smi the driver's own files still name the devices.
std::vector<Gpu> FromDriverFiles(const Path& folder) {
  std::vector<Gpu> gpus;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "gpus", ignored)) {
    for (const std::string& line : SplitLines(ReadFile(entry.path() / "information").value_or(""))) {
      if (!StartsWith(line, "Model:")) continue;
      Gpu gpu;
      gpu.name = Printable(Trim(std::string_view(line).substr(std::string_view("Model:").size())));
      gpu.hardware = HardwareOf(gpu.name);
      gpus.push_back(std::move(gpu));
    }
  }
  return gpus;
}

}  // namespace

namespace {

// Asked apart: a driver that knows one of these fields not answers none of them.
void AddSettings(const Probe& probe, std::vector<Gpu>& gpus) {
  const auto output =
      probe.run({"nvidia-smi", "--query-gpu=clocks.max.sm,power.limit,ecc.mode.current,vbios_version",
                 "--format=csv,noheader,nounits"});
  const std::vector<std::string> lines = SplitLines(output.value_or(""));
  if (lines.size() != gpus.size()) return;
  for (size_t i = 0; i < gpus.size(); ++i) {
    const std::vector<std::string> fields = Split(lines[i], ',');
    if (fields.size() != 4) continue;
    const auto known = [&](size_t field) {
      const std::string_view text = Trim(fields[field]);
      return StartsWith(text, "[") || text == "N/A" ? std::string() : Printable(text);
    };
    std::vector<std::string> clocks;
    if (const std::string clock = known(0); !clock.empty()) clocks.push_back("sm max " + clock + " MHz");
    if (const std::string power = known(1); !power.empty()) clocks.push_back("power " + power + " W");
    gpus[i].clocks = Join(clocks, ", ");
    gpus[i].ecc = ToLower(known(2));
    gpus[i].firmware = known(3);
  }
}

}  // namespace

std::vector<std::vector<double>> NvidiaNumbers(const Probe& probe, const std::string& fields,
                                               const std::string& devices) {
  std::vector<std::string> argv{"nvidia-smi", "--query-gpu=" + fields, "--format=csv,noheader,nounits"};
  if (!devices.empty()) argv.insert(argv.end(), {"-i", devices});
  std::vector<std::vector<double>> gpus;
  for (const std::string& line : SplitLines(probe.run(argv).value_or(""))) {
    std::vector<double>& gpu = gpus.emplace_back();
    for (const std::string& field : Split(line, ',')) {
      const std::string_view text = Trim(field);
      double number = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return {};
      gpu.push_back(number);
    }
  }
  return gpus;
}

std::vector<Gpu> DetectNvidia(const Probe& probe, std::vector<std::string>& notes) {
  const auto output = probe.run(
      {"nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader,nounits"});
  std::vector<Gpu> gpus;
  for (const std::string& line : SplitLines(output.value_or(""))) {
    if (auto gpu = ParseRow(line)) gpus.push_back(std::move(*gpu));
  }
  std::error_code ignored;
  const Path driver = probe.root / kDriverFolder;
  if (!gpus.empty()) AddSettings(probe, gpus);
  if (!gpus.empty() || !std::filesystem::exists(driver, ignored)) return gpus;
  notes.push_back(output ? "nvidia-smi named no GPU" : output.error().message);
  return FromDriverFiles(driver);
}

}  // namespace assay::runner
