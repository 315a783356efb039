#include "runner/plan/config_files.h"

#include <algorithm>

#include "runner/config/load.h"
#include "runner/plan/plan.h"
#include "runner/plan/resolve.h"

namespace assay::runner {
namespace {

bool IsYaml(const Path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}
bool IsList(const Path& path) {
  return path.extension() == ".txt";
}

bool IsFolder(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// YAML and list files below a folder, sorted so that every machine sees them in one order.
std::vector<Path> FilesBelow(const Path& folder) {
  std::vector<Path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
    const Path& path = entry.path();
    if (entry.is_regular_file(ignored) && (IsYaml(path) || IsList(path))) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status AddFolder(const Path& folder, std::vector<Config>& configs) {
  const size_t before = configs.size();
  for (const Path& file : FilesBelow(folder)) {
    if (IsList(file)) continue;
    ASSIGN_OR_RETURN(LoadedFile loaded, LoadAny(file));
    if (loaded.config) configs.push_back(std::move(*loaded.config));
  }
  if (configs.size() > before) return {};
  return Fail(ErrorKind::kUsage, "{}: holds no config; name a YAML file or a folder of them",
              folder.string());
}

std::string EvalWords(const Config& config) {
  const size_t shapes = config.evals.serving.size();
  std::string words = config.evals.gpqa ? "gpqa" : "";
  if (shapes > 0) {
    words += fmt::format("{}{} serving shape{}", words.empty() ? "" : ", ", shapes, shapes == 1 ? "" : "s");
  }
  return words;
}

Result<std::string> CheckYaml(const Path& file) {
  ASSIGN_OR_RETURN(const LoadedFile loaded, LoadAny(file));
  if (loaded.suite) return fmt::format("suite {}", loaded.suite->name);
  if (!loaded.config) return loaded.kind;
  ASSIGN_OR_RETURN(const std::vector<Cell> cells, MakePlan({file}, std::nullopt));
  const Config& config = cells.front().config;
  std::string text = fmt::format("{} {}: {}", loaded.kind, cells.front().key, EvalWords(config));
  for (const std::string& note : config.notes) text += "\n      note: " + note;
  return text;
}

Result<std::string> CheckList(const Path& file) {
  ASSIGN_OR_RETURN(const std::vector<Path> paths, LoadList(file));
  for (const Path& path : paths) {
    ASSIGN_OR_RETURN(const Config config, LoadConfig(path));
  }
  return fmt::format("list of {} config{}", paths.size(), paths.size() == 1 ? "" : "s");
}

}  // namespace

Result<std::vector<Config>> LoadConfigs(const std::vector<Path>& paths) {
  std::vector<Config> configs;
  const auto add_file = [&](const Path& file) -> Status {
    ASSIGN_OR_RETURN(Config config, LoadConfig(file));
    configs.push_back(std::move(config));
    return {};
  };
  for (const Path& named : paths) {
    const Path path = OrInstalled(named, Surroundings::OfThisProcess());
    if (IsFolder(path)) {
      RETURN_IF_ERROR(AddFolder(path, configs));
    } else if (IsList(path)) {
      ASSIGN_OR_RETURN(const std::vector<Path> files, LoadList(path));
      for (const Path& file : files) RETURN_IF_ERROR(add_file(file));
    } else {
      RETURN_IF_ERROR(add_file(path));
    }
  }
  if (configs.empty())
    return Fail(ErrorKind::kUsage, "no config was named; for example configs/cpu/tiny-moe.yaml");
  return configs;
}

Path ConfigsFolder(const Path& config_file) {
  Path folder = std::filesystem::absolute(config_file).lexically_normal().parent_path();
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    if (!IsFolder(folder / "suites")) continue;
    const Path relative = folder.lexically_relative(std::filesystem::current_path());
    return relative.empty() || *relative.begin() == ".." ? folder : relative;
  }
  return "configs";
}

Result<std::vector<FileCheck>> ValidatePaths(const std::vector<Path>& paths) {
  std::vector<Path> files;
  for (const Path& named : paths) {
    const Path path = OrInstalled(named, Surroundings::OfThisProcess());
    if (!IsFolder(path)) {
      files.push_back(path);
      continue;
    }
    const std::vector<Path> below = FilesBelow(path);
    if (below.empty()) {
      return Fail(ErrorKind::kUsage, "{}: holds no YAML or list file; name one or a folder of them",
                  path.string());
    }
    files.insert(files.end(), below.begin(), below.end());
  }
  std::vector<FileCheck> checks;
  for (const Path& file : files) {
    Result<std::string> checked = IsList(file) ? CheckList(file) : CheckYaml(file);
    checks.push_back({file, checked.has_value(), checked ? *checked : checked.error().message});
  }
  return checks;
}

}  // namespace assay::runner
