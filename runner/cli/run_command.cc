#include <fmt/format.h>

#include <cstdio>

#include "base/text.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/cli/report_flags.h"
#include "runner/run/run.h"
#include "runner/run/run_folder.h"

namespace assay::runner {

const std::string_view kRunHelp =
    R"(usage: assay run CONFIG... [--suite NAME] [flags]
       assay run --resume DIR

Launches the server of each config, runs its evals, compares with thresholds and baselines, writes
report.md, record.json and the server's log, and exits with a code that says what happened.

  CONFIG                    YAML files, folders of them, or list files (one path a line); vLLM's GPQA evals and
                            perf-eval's workloads too, as they are
  --suite NAME              which evals to run: a name under configs/suites or a file (default: all)
  --cell KEY                run only this cell of those that the configs and the suite make; --dry-run shows
                            their keys
  --baseline WHAT           main or another branch in the store, the file of a record, or none
                            (default: what the config's gate.baseline says)
  --out DIR                 where to write (default: out/<run id>)
  --store PLACE             history of runs: a SQLite file, a folder or an http(s) address (default: $ASSAY_STORE,
                            else ~/.local/share/assay/store.db)
  --no-store                neither read nor write a history
  --branch NAME             what this run is stored as (default: what git or CI says)
  --lang en|zh              language of the reports (default: en)
  --hardware NAME           hardware of files that name none, as vLLM's evals (default: what this machine has)
  --strict                  INCONCLUSIVE exits 3
  --allow-missing-baseline  no baseline is no failure; the report says so
  --dry-run                 print the resolved configs and command lines; launch nothing
  --stop HOW                accuracy evals: never, or when-certain (ends as soon as the verdict on all samples is
                            clear; default: what the config says)
  --stop-error X            how often that may differ from the verdict on all samples, each way (default: 0.05)
  --include-text            keep prompts and answers in record and journal, so that `assay grade` can read them
  --resume DIR              go on with a run that was killed or interrupted; what its journal has is not asked
                            again. Configs and flags are those of that run: no other may be given

example
  assay run configs/cpu/tiny-moe.yaml --suite smoke
)";

namespace {

std::optional<int> Parse(int argc, char** argv, RunOptions& options, Status& alone) {
  options = {};
  options.command.assign(argv, argv + argc);
  options.command.insert(options.command.begin(), "assay");
  bool no_store = false;
  std::string suite;
  CLI::App app;
  app.set_help_flag();
  app.add_option("config", options.configs);
  app.add_option("--suite", suite);
  app.add_option("--cell", options.cell);
  app.add_option("--baseline", options.baseline);
  app.add_option("--out", options.out);
  app.add_option("--store", options.store);
  app.add_option("--branch", options.branch);
  AddLanguageFlag(app, options.language);
  app.add_option("--hardware", options.hardware);
  app.add_flag("--no-store", no_store);
  app.add_flag("--strict", options.strict);
  app.add_flag("--allow-missing-baseline", options.allow_missing_baseline);
  app.add_flag("--dry-run", options.dry_run);
  app.add_option("--stop", options.stop)->check(CLI::IsMember({"never", "when-certain"}));
  app.add_option("--stop-error", options.stop_error)->check(NumberWithin(1e-6, 0.5));
  app.add_flag("--include-text", options.include_text);
  app.add_option("--resume", options.resume);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;
  alone = CheckResumeIsAlone(app, {});
  if (!suite.empty()) options.suite = suite;
  options.use_store = !no_store;
  return std::nullopt;
}

// The command line that began the run, read again.
Result<RunOptions> OptionsOfEarlier(const Path& folder) {
  ASSIGN_OR_RETURN(const EarlierAttempt earlier, LoadEarlierAttempt(folder));
  std::vector<std::string> command = earlier.record.command;
  RunOptions options;
  Status alone;
  if (command.size() < 3 || command[1] != "run") {
    return Fail(ErrorKind::kUsage, "--resume: {} was not begun by assay run", folder.string());
  }
  std::vector<char*> argv;
  for (size_t i = 1; i < command.size(); ++i) argv.push_back(command[i].data());
  if (Parse(static_cast<int>(argv.size()), argv.data(), options, alone)) {
    return Fail(ErrorKind::kUsage, "--resume: the command that began {} is not understood", folder.string());
  }
  options.resume = folder;
  return options;
}

Result<int> RunOrResume(RunOptions options) {
  if (options.configs.empty() && options.resume.empty()) {
    return Fail(ErrorKind::kUsage, "config is required; assay run --help shows every flag");
  }
  if (!options.resume.empty()) {
    ASSIGN_OR_RETURN(options, OptionsOfEarlier(options.resume));
  }
  return Run(options);
}

}  // namespace

int RunCommand(int argc, char** argv) {
  RunOptions options;
  Status alone;
  if (const auto exit_code = Parse(argc, argv, options, alone)) return *exit_code;
  const Result<int> exit_code =
      alone ? RunOrResume(std::move(options)) : tl::unexpected(std::move(alone).error());
  if (exit_code) return *exit_code;
  fmt::print(stderr, "assay run: {}\n", exit_code.error().message);
  return ExitCodeOf(exit_code.error().kind);
}

}  // namespace assay::runner
