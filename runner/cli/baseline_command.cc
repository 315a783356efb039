#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/store/baseline_store.h"

namespace assay::runner {

const std::string_view kBaselineHelp =
    R"(usage: assay baseline list [--limit N] [--store FILE]
       assay baseline show RUN_ID [--accuracy-only] [--store FILE]

list   the stored runs, newest first: what later runs are compared with are those of the config's
       branch that passed
show   the record of one stored run as JSON on stdout; redirect it to a file to pin it as a baseline

  --limit N        how many runs to list (default: 20)
  --accuracy-only  leave out the serving benchmarks, which mean nothing on another machine
  --store FILE     history of runs (default: $ASSAY_STORE, else ~/.local/share/assay/store.db)

example
  assay baseline show 20261130-155448-1a2b --accuracy-only > ci/baselines/cpu-tiny-moe.json
)";

namespace {

Status List(BaselineStore& store, int limit) {
  ASSIGN_OR_RETURN(const std::vector<StoredRun> runs, store.List(limit));
  fmt::print("{:<22} {:<20} {:<5} {:<12} {:<28} {}\n", "run", "created", "exit", "commit", "cell", "branch");
  for (const StoredRun& run : runs) {
    fmt::print("{:<22} {:<20} {:<5} {:<12} {:<28} {}\n", run.run_id, run.created, run.exit_code,
               run.commit.substr(0, 12), run.cell_key, run.branch);
  }
  return {};
}

Status Show(BaselineStore& store, const std::string& run_id, bool accuracy_only) {
  ASSIGN_OR_RETURN(record::RunRecord record, store.Load(run_id));
  if (accuracy_only) {
    for (record::CellRecord& cell : record.cells) cell.serving.clear();
  }
  fmt::print("{}\n", record::ToJson(record).dump());
  return {};
}

}  // namespace

int BaselineCommand(int argc, char** argv) {
  Path file = DefaultStoreFile();
  int limit = 20;
  std::string run_id;
  bool accuracy_only = false;
  CLI::App app;
  app.set_help_flag();
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--store", file);
  CLI::App* list = app.add_subcommand("list");
  list->add_option("--limit", limit)->check(CLI::Range(1, 1000000));
  CLI::App* show = app.add_subcommand("show");
  show->add_option("run", run_id)->required();
  show->add_flag("--accuracy-only", accuracy_only);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  const auto status = [&]() -> Status {
    ASSIGN_OR_RETURN(const auto store, BaselineStore::Open(file));
    return list->parsed() ? List(*store, limit) : Show(*store, run_id, accuracy_only);
  }();
  if (status) return kExitPass;
  fmt::print(stderr, "assay baseline: {}\n", status.error().message);
  return ExitCodeOf(status.error().kind);
}

}  // namespace assay::runner
