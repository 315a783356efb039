#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "runner/config/config.h"

namespace assay::runner {

// What a relative path or a bare name is looked for in. An input, so that tests decide it.
struct Surroundings {
  Path working_folder = ".";
  Path program_folder;         // where assay itself lies
  std::optional<Path> models;  // $ASSAY_MODELS
  Path data;                   // $ASSAY_DATA, else $XDG_DATA_HOME/assay, else ~/.local/share/assay
  std::string search_path;     // $PATH
  std::string hardware;  // of configs that name none, as files of others do; "" is what this machine has

  static Surroundings OfThisProcess();
};

// Where a file or folder named in a config was looked for, and the first place that has it.
struct Found {
  std::optional<Path> path;
  std::vector<Path> looked;
};

// Beside the config file first, then in the working folder.
Found FindPath(const std::string& text, const Path& config_file, const Surroundings& here);
// As FindPath, then under $ASSAY_MODELS.
Found FindModel(const std::string& text, const Path& config_file, const Surroundings& here);
// A program by path, or by name in PATH; it must be executable.
Found FindProgram(const std::string& program, const Surroundings& here);
// The path itself; or, when it is relative and not there, the same below share/assay beside the program's
// bin, where a package puts configs and the bundled model.
Path OrInstalled(const Path& path, const Surroundings& here);
// gpqa/gpqa_<variant>.csv in the data folder.
Path GpqaFilePath(const std::string& variant, const Surroundings& here);

// "/models/x", "./x", "../x": a path, and never the id of a model on a hub.
bool IsExplicitPath(const std::string& text);

// "looked in a, b and c"
std::string LookedIn(const std::vector<Path>& looked);

}  // namespace assay::runner
