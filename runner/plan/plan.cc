#include "runner/plan/plan.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "evals/gpqa/prompt.h"
#include "runner/config/hardware_names.h"
#include "runner/plan/command_line.h"
#include "runner/plan/config_files.h"
#include "runner/plan/machine.h"
#include "runner/plan/resolve.h"

namespace assay::runner {
namespace {

// Text as written where nothing was found: a model id of a hub, or what Preflight will name as missing.
std::string PathOrText(const Found& found, const std::string& text) {
  return found.path ? found.path->string() : text;
}

void ResolvePaths(Config& config, const Surroundings& here) {
  EngineConfig& engine = config.engine;
  for (std::string* text : {&engine.model, &engine.tokenizer}) {
    if (!text->empty()) *text = PathOrText(FindModel(*text, config.file, here), *text);
  }
  for (std::string* text : {&engine.binary, &config.gate.baseline.pinned_file}) {
    if (!text->empty()) *text = PathOrText(FindPath(*text, config.file, here), *text);
  }
  for (evals::ServingOptions& serving : config.evals.serving) {
    for (Path* file : {&serving.dataset_path, &serving.trace_file}) {
      if (!file->empty()) *file = PathOrText(FindPath(file->string(), config.file, here), file->string());
    }
    std::string& tokenizer = serving.tokenizer;
    if (!tokenizer.empty()) tokenizer = PathOrText(FindModel(tokenizer, config.file, here), tokenizer);
  }
  if (auto& gpqa = config.evals.gpqa) {
    const std::string text = gpqa->dataset.string();
    gpqa->dataset = !config.evals.gpqa_variant.empty()
                        ? GpqaFilePath(config.evals.gpqa_variant, here)
                        : Path(PathOrText(FindPath(text, config.file, here), text));
    if (!evals::IsKnownPrompt(gpqa->prompt))
      gpqa->prompt = PathOrText(FindPath(gpqa->prompt, config.file, here), gpqa->prompt);
  }
}

// The first GPU that assay has a name for; a machine without one is a `cpu`.
std::string HardwareHere() {
  const Machine machine = DetectMachine(Probe::OfThisMachine());
  for (const Gpu& gpu : machine.gpus) {
    if (FindHardware(gpu.hardware) != nullptr) return gpu.hardware;
  }
  return "cpu";
}

Status FillHardware(std::vector<Config>& configs, const Surroundings& here) {
  std::vector<std::string> known;
  for (const HardwareName& hardware : HardwareNames()) known.push_back(hardware.name);
  std::string hardware = here.hardware;
  if (!hardware.empty() && std::find(known.begin(), known.end(), hardware) == known.end()) {
    return Fail(ErrorKind::kUsage, "--hardware: must be one of {}, got {}", Join(known, ", "), hardware);
  }
  for (Config& config : configs) {
    if (!config.hardware.empty()) continue;
    if (hardware.empty()) hardware = HardwareHere();
    config.hardware = hardware;
  }
  return {};
}

std::string CellKey(const Config& config, const std::string& suite) {
  return fmt::format("{}.{}{}{}", config.hardware, config.name, suite.empty() ? "" : ".", suite);
}

std::string ShapeNames(const Config& config) {
  std::vector<std::string> names;
  for (const auto& shape : config.evals.serving) names.push_back(shape.name);
  return names.empty() ? "none" : Join(names, ", ");
}

// A shape that no config has is a typing mistake; one that only some have is a choice.
Status CheckShapeNames(const Suite& suite, const std::vector<Config>& configs) {
  std::vector<std::string> known;
  for (const Config& config : configs) {
    for (const auto& shape : config.evals.serving) known.push_back(shape.name);
  }
  for (const std::string& name : suite.serving) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto nearest = NearestWord(name, known);
    return Fail(ErrorKind::kUsage, "{}: serving.names: no config given has a shape {}; {}",
                suite.file.string(), name,
                nearest ? fmt::format("did you mean {}?", *nearest)
                        : fmt::format("the first one has {}", ShapeNames(configs.front())));
  }
  return {};
}

Result<Cell> MakeCell(Config config, const std::optional<Suite>& suite, const Surroundings& here) {
  Cell cell;
  cell.suite = suite ? suite->name : "";
  const std::string shapes = ShapeNames(config);
  if (suite) config = Apply(std::move(config), *suite);
  if (!config.evals.gpqa && config.evals.serving.empty() && !config.evals.reproducibility) {
    return Fail(ErrorKind::kUsage,
                "{}: the suite {} leaves nothing to measure (serving shapes here: {}); choose another",
                config.file.string(), cell.suite, shapes);
  }
  cell.key = CellKey(config, cell.suite);
  ResolvePaths(config, here);
  cell.config_hash = ConfigHash(config);
  cell.launch = MakeLaunchPlan(config, here);
  cell.config = std::move(config);
  return cell;
}

Status CheckKeysDiffer(const std::vector<Cell>& cells) {
  std::map<std::string, Path> seen;
  for (const Cell& cell : cells) {
    const auto [first, fresh] = seen.emplace(cell.key, cell.config.file);
    if (fresh) continue;
    return Fail(ErrorKind::kUsage,
                "{}: has the name and hardware of {} (cell {}); give one of them another name",
                cell.config.file.string(), first->second.string(), cell.key);
  }
  return {};
}

}  // namespace

Result<std::vector<Cell>> PlanConfigs(std::vector<Config> configs,
                                      const std::optional<std::string>& suite_name,
                                      const Surroundings& here) {
  RETURN_IF_ERROR(FillHardware(configs, here));
  std::optional<Suite> suite;
  if (suite_name) {
    ASSIGN_OR_RETURN(suite, LoadSuite(*suite_name, ConfigsFolder(configs.front().file)));
    RETURN_IF_ERROR(CheckShapeNames(*suite, configs));
  }
  std::vector<Cell> cells;
  for (const Config& config : configs) {
    ASSIGN_OR_RETURN(Cell cell, MakeCell(config, suite, here));
    cells.push_back(std::move(cell));
  }
  RETURN_IF_ERROR(CheckKeysDiffer(cells));
  return cells;
}

Result<std::vector<Cell>> PlanConfigs(std::vector<Config> configs, const std::optional<std::string>& suite,
                                      const std::string& hardware) {
  Surroundings here = Surroundings::OfThisProcess();
  here.hardware = hardware;
  return PlanConfigs(std::move(configs), suite, here);
}

Result<std::vector<Cell>> MakePlan(const std::vector<Path>& paths, const std::optional<std::string>& suite,
                                   const Surroundings& here) {
  ASSIGN_OR_RETURN(std::vector<Config> configs, LoadConfigs(paths));
  return PlanConfigs(std::move(configs), suite, here);
}

Result<std::vector<Cell>> MakePlan(const std::vector<Path>& paths, const std::optional<std::string>& suite,
                                   const std::string& hardware) {
  ASSIGN_OR_RETURN(std::vector<Config> configs, LoadConfigs(paths));
  return PlanConfigs(std::move(configs), suite, hardware);
}

}  // namespace assay::runner
