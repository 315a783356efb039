#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/plan/config_files.h"

namespace assay::runner {

const std::string_view kValidateHelp =
    R"(usage: assay validate PATH...

Checks configs, suites and list files, and folders of them, on any machine: syntax, keys, types, values.
vLLM's GPQA evals and perf-eval's workloads and GPU profiles are recognised by their keys.
Prints a line for each file, and every mistake with its place and what to do. Launches nothing; models and
data need not be here.

example
  assay validate configs/
)";

int ValidateCommand(int argc, char** argv) {
  std::vector<Path> paths;
  CLI::App app;
  app.set_help_flag();
  app.add_option("path", paths)->required();
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  const Result<std::vector<FileCheck>> checks = ValidatePaths(paths);
  if (!checks) {
    fmt::print(stderr, "assay validate: {}\n", checks.error().message);
    return ExitCodeOf(checks.error().kind);
  }
  for (const FileCheck& check : *checks) {
    if (check.ok) {
      fmt::print("ok    {}: {}\n", check.file.string(), check.text);
    } else {
      fmt::print("WRONG {}\n{}\n", check.file.string(), check.text);
    }
  }
  const bool all_right =
      std::all_of(checks->begin(), checks->end(), [](const FileCheck& check) { return check.ok; });
  return all_right ? kExitPass : kExitUsage;
}

}  // namespace assay::runner
