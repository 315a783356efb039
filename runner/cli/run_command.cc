#include <fmt/format.h>

#include <cstdio>

#include "base/text.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/run/run.h"

namespace assay::runner {

const std::string_view kRunHelp =
    R"(usage: assay run CONFIG... [--suite NAME] [flags]

Launches the server of each config, runs its evals, compares with thresholds and baselines, writes
report.md, record.json and the server's log, and exits with a code that says what happened.

  CONFIG                    YAML files, folders of them, or list files (one path a line); vLLM's GPQA evals and
                            perf-eval's workloads too, as they are
  --suite NAME              which evals to run: a name under configs/suites or a file (default: all)
  --baseline WHAT           main or another branch in the store, the file of a record, or none
                            (default: what the config's gate.baseline says)
  --out DIR                 where to write (default: out/<run id>)
  --store FILE              history of runs (default: $ASSAY_STORE, else ~/.local/share/assay/store.db)
  --no-store                neither read nor write a history
  --branch NAME             what this run is stored as (default: what git or CI says)
  --hardware NAME           hardware of files that name none, as vLLM's evals (default: what this machine has)
  --strict                  INCONCLUSIVE exits 3
  --allow-missing-baseline  no baseline is no failure; the report says so
  --dry-run                 print the resolved configs and command lines; launch nothing

example
  assay run configs/cpu/tiny-moe.yaml --suite smoke
)";

int RunCommand(int argc, char** argv) {
  RunOptions options;
  options.command.assign(argv, argv + argc);
  options.command.insert(options.command.begin(), "assay");
  bool no_store = false;
  std::string suite;
  CLI::App app;
  app.set_help_flag();
  app.add_option("config", options.configs)->required();
  app.add_option("--suite", suite);
  app.add_option("--baseline", options.baseline);
  app.add_option("--out", options.out);
  app.add_option("--store", options.store);
  app.add_option("--branch", options.branch);
  app.add_option("--hardware", options.hardware);
  app.add_flag("--no-store", no_store);
  app.add_flag("--strict", options.strict);
  app.add_flag("--allow-missing-baseline", options.allow_missing_baseline);
  app.add_flag("--dry-run", options.dry_run);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;
  if (!suite.empty()) options.suite = suite;
  options.use_store = !no_store;

  const Result<int> exit_code = Run(options);
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay run: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
