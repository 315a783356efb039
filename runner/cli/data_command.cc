#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "evals/gpqa/acquire.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/plan/resolve.h"

namespace assay::runner {

const std::string_view kDataHelp =
    R"(usage: assay data gpqa --from FILE|FOLDER|URL [flags]

Checks GPQA's question sets and stores them in the data folder, where a config's `variant: diamond` finds
them. Nothing is stored unless every set is whole: all columns, every row, the published number of questions.

  --from WHAT       dataset.zip as github.com/idavidrein/gpqa publishes it (its password is known), a folder of
                    its files, or a gpqa_<variant>.csv; a file or an http(s) address
  --variant NAME    only this set: diamond, main or extended; needed for a CSV of another name
  --sha256 HEX      refuse a file with another SHA-256
  --folder DIR      where to store (default: gpqa in $ASSAY_DATA, else $XDG_DATA_HOME/assay, else
                    ~/.local/share/assay)

example
  assay data gpqa --from dataset.zip
)";

int DataCommand(int argc, char** argv) {
  evals::AcquireOptions options;
  std::string what;
  CLI::App app;
  app.set_help_flag();
  app.add_option("data", what)->required()->check(CLI::IsMember({"gpqa"}));
  app.add_option("--from", options.from)->required();
  app.add_option("--variant", options.variant)->check(CLI::IsMember({"diamond", "main", "extended"}));
  app.add_option("--sha256", options.sha256);
  app.add_option("--folder", options.folder);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;
  if (options.folder.empty()) options.folder = Surroundings::OfThisProcess().data / "gpqa";

  const auto sets = evals::AcquireGpqa(options);
  if (!sets) {
    fmt::print(stderr, "assay data: {}\n", sets.error().message);
    return ExitCodeOf(sets.error().kind);
  }
  for (const evals::AcquiredSet& set : *sets) {
    fmt::print("{:<9} {} questions  {}\n          sha256 {}\n", set.variant, set.questions, set.file.string(),
               set.sha256);
  }
  return kExitPass;
}

}  // namespace assay::runner
