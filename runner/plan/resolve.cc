#include "runner/plan/resolve.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace assay::runner {
namespace {

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

Path DataFolder() {
  if (const auto data = Variable("ASSAY_DATA")) return *data;
  if (const auto share = Variable("XDG_DATA_HOME")) return Path(*share) / "assay";
  return Path(Variable("HOME").value_or("/")) / ".local/share/assay";
}

bool Exists(const Path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

void Look(const Path& path, Found& found) {
  const Path normal = path.lexically_normal();
  if (found.path || std::find(found.looked.begin(), found.looked.end(), normal) != found.looked.end()) return;
  found.looked.push_back(normal);
  if (Exists(normal)) found.path = normal;
}

bool IsProgram(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Surroundings Surroundings::OfThisProcess() {
  Surroundings here;
  std::error_code ignored;
  here.program_folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  if (const auto models = Variable("ASSAY_MODELS")) here.models = *models;
  here.data = DataFolder();
  here.search_path = Variable("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  return here;
}

Path OrInstalled(const Path& path, const Surroundings& here) {
  if (path.is_absolute() || here.program_folder.empty() || Exists(here.working_folder / path)) return path;
  const Path installed = (here.program_folder.parent_path() / "share/assay" / path).lexically_normal();
  return Exists(installed) ? installed : path;
}

Found FindPath(const std::string& text, const Path& config_file, const Surroundings& here) {
  Found found;
  Look(config_file.parent_path() / text, found);  // an absolute text replaces the folder
  Look(here.working_folder / text, found);
  return found;
}

Found FindModel(const std::string& text, const Path& config_file, const Surroundings& here) {
  Found found = FindPath(text, config_file, here);
  if (here.models) Look(*here.models / text, found);
  return found;
}

Found FindProgram(const std::string& program, const Surroundings& here) {
  Found found;
  if (program.find('/') != std::string::npos) {
    found.looked = {program};
    if (IsProgram(program)) found.path = program;
    return found;
  }
  for (const std::string& folder : Split(here.search_path, ':')) {
    if (folder.empty()) continue;
    found.looked.push_back(Path(folder) / program);
    if (IsProgram(found.looked.back())) {
      found.path = found.looked.back();
      break;
    }
  }
  return found;
}

Path GpqaFilePath(const std::string& variant, const Surroundings& here) {
  return here.data / "gpqa" / ("gpqa_" + variant + ".csv");
}

bool IsExplicitPath(const std::string& text) {
  return StartsWith(text, "/") || StartsWith(text, "./") || StartsWith(text, "../") || text == "." ||
         text == "..";
}

std::string LookedIn(const std::vector<Path>& looked) {
  std::string text = "looked in ";
  for (size_t i = 0; i < looked.size(); ++i) {
    if (i > 0) text += i + 1 == looked.size() ? " and " : ", ";
    text += looked[i].string();
  }
  return text;
}

}  // namespace assay::runner
