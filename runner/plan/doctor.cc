#include "runner/plan/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/text.h"
#include "runner/plan/plan.h"

namespace assay::runner {
namespace {

struct Tool {
  const char* name;
  std::vector<std::string> version_of;  // arguments that make it say so; empty: starting it takes long
};

// What assay calls (git), what builds engines, and the servers that configs start.
const std::vector<Tool>& Tools() {
  static const std::vector<Tool> tools = {
      {"git", {"--version"}},   {"c++", {"--version"}}, {"cmake", {"--version"}}, {"nvcc", {"--version"}},
      {"hipcc", {"--version"}}, {"nvidia-smi", {}},     {"amd-smi", {}},          {"vllm", {}},
      {"llama-server", {}},
  };
  return tools;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// The first thing like 12.2.0 of an output.
std::string VersionIn(const std::string& output) {
  for (size_t i = 0; i < output.size(); ++i) {
    if (!IsDigit(output[i]) || (i > 0 && (IsDigit(output[i - 1]) || output[i - 1] == '.'))) continue;
    size_t end = i;
    while (end < output.size() && (IsDigit(output[end]) || output[end] == '.')) ++end;
    std::string version = output.substr(i, end - i);
    while (!version.empty() && version.back() == '.') version.pop_back();
    if (version.find('.') != std::string::npos) return version;
  }
  return "";
}

std::vector<Diagnosis::Program> FindPrograms(const Probe& probe, const Surroundings& here) {
  std::vector<Diagnosis::Program> programs;
  for (const Tool& tool : Tools()) {
    Diagnosis::Program program{tool.name, "", FindProgram(tool.name, here).path.has_value()};
    if (program.found && !tool.version_of.empty()) {
      std::vector<std::string> argv = tool.version_of;
      argv.insert(argv.begin(), tool.name);
      program.version = VersionIn(probe.run(argv).value_or(""));
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

std::string FirstLine(const Path& file) {
  const std::string text = ReadFile(file).value_or("");
  return Printable(Trim(std::string_view(text).substr(0, text.find('\n'))));
}

std::vector<std::string> StateOf(const Machine& machine, const Probe& probe) {
  std::vector<std::string> state;
  const std::string averages = FirstLine(probe.root / "proc/loadavg");
  double load = 0;
  if (std::from_chars(averages.data(), averages.data() + averages.size(), load).ec == std::errc{}) {
    state.push_back(
        fmt::format("load {:.2f} on {} core{}{}", load, machine.cores, machine.cores == 1 ? "" : "s",
                    load > 0.25 * machine.cores ? ": something else is running, timings will vary" : ""));
  }
  const std::string governor = FirstLine(probe.root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!governor.empty()) {
    state.push_back(
        fmt::format("CPU clocks by the {} governor{}", governor,
                    governor == "performance" ? "" : ": they follow the load, and so do timings"));
  }
  if (std::none_of(machine.gpus.begin(), machine.gpus.end(),
                   [](const Gpu& gpu) { return StartsWith(gpu.name, "NVIDIA"); }))
    return state;
  const auto clocks = probe.run({"nvidia-smi",
                                 "--query-gpu=index,clocks.sm,clocks.max.sm,temperature.gpu,ecc.mode.current,"
                                 "clocks_event_reasons.active",
                                 "--format=csv,noheader"});
  if (!clocks) {
    state.push_back("clocks of the GPUs are not known: " + clocks.error().message);
    return state;
  }
  for (const std::string& line : SplitLines(*clocks)) {
    const std::vector<std::string> fields = Split(line, ',');
    if (fields.size() != 6) continue;
    const auto field = [&](size_t i) { return std::string(Trim(fields[i])); };
    state.push_back(fmt::format("GPU {}: {} of {}, {} degrees, ECC {}, clock event reasons {}", field(0),
                                field(1), field(2), field(3), field(4), field(5)));
  }
  return state;
}

// Each thing once, without the file that every line begins with. Where the hardware is another, nothing else
// matters.
std::vector<std::string> MissingOf(const Cell& cell, const Machine& machine, const Surroundings& here,
                                   const Probe& probe) {
  const Status ready = Preflight(cell, machine, here, probe);
  if (ready) return {};
  const std::string prefix = cell.config.file.string() + ": ";
  std::vector<std::string> missing;
  for (std::string line : SplitLines(ready.error().message)) {
    if (StartsWith(line, prefix)) line = line.substr(prefix.size());
    missing.push_back(std::move(line));
  }
  const EngineConfig& engine = cell.config.engine;
  if (!CheckHardware(cell.config.hardware, engine.gpus.value_or(engine.tensor_parallel_size), machine))
    missing.resize(1);
  return missing;
}

std::string ProgramWords(const std::vector<Diagnosis::Program>& programs, bool found) {
  std::vector<std::string> words;
  for (const Diagnosis::Program& program : programs) {
    if (program.found != found) continue;
    words.push_back(program.version.empty() ? program.name : program.name + " " + program.version);
  }
  return Join(words, ", ");
}

std::string GroupText(const Diagnosis::Group& group) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(group.configs.size(), kNamed); ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "  ", group.configs[i].string());
  if (group.configs.size() > kNamed) text += fmt::format(" and {} more", group.configs.size() - kNamed);
  text += group.missing.empty() ? ": can run\n" : "\n";
  for (const std::string& line : group.missing) text += "    - " + line + "\n";
  return text;
}

}  // namespace

Result<Diagnosis> Diagnose(const std::vector<Path>& configs, const Probe& probe, const Surroundings& here) {
  ASSIGN_OR_RETURN(const std::vector<Cell> cells, MakePlan(configs, std::nullopt, here));
  Diagnosis diagnosis;
  diagnosis.machine = DetectMachine(probe);
  diagnosis.state = StateOf(diagnosis.machine, probe);
  diagnosis.programs = FindPrograms(probe, here);
  std::map<std::vector<std::string>, std::vector<Path>>
      groups;  // what can run, with nothing missing, is first
  for (const Cell& cell : cells)
    groups[MissingOf(cell, diagnosis.machine, here, probe)].push_back(cell.config.file);
  for (auto& [missing, files] : groups) diagnosis.groups.push_back({missing, std::move(files)});
  return diagnosis;
}

std::string DiagnosisText(const Diagnosis& diagnosis) {
  const Machine& machine = diagnosis.machine;
  std::string text =
      fmt::format("machine   {}, {} MiB of memory\n", MachineWords(machine), machine.memory_mb);
  text += fmt::format("system    {}, {}\n", machine.os, machine.kernel);
  for (const Gpu& gpu : machine.gpus)
    text += fmt::format("GPU       {} ({}), driver {}, {} MiB\n", gpu.hardware, gpu.name, gpu.driver,
                        gpu.memory_mb);
  for (const std::string& note : machine.notes) text += fmt::format("note      {}\n", note);
  for (const std::string& line : diagnosis.state) text += fmt::format("state     {}\n", line);
  text += fmt::format("programs  {}\n", ProgramWords(diagnosis.programs, true));
  const std::string absent = ProgramWords(diagnosis.programs, false);
  if (!absent.empty()) text += fmt::format("no        {}\n", absent);
  text += "\nconfigs\n";
  for (const Diagnosis::Group& group : diagnosis.groups) text += GroupText(group);
  return text;
}

}  // namespace assay::runner
