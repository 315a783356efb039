#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "base/text.h"
#include "gate/acknowledge.h"
#include "runner/cli/command.h"
#include "runner/cli/exit_code.h"
#include "runner/cli/parse.h"
#include "runner/store/baseline_store.h"
#include "runner/store/git_branch.h"
#include "runner/store/regressions.h"

namespace assay::runner {

const std::string_view kBaselineHelp =
    R"(usage: assay baseline list [--limit N]
       assay baseline show RUN_ID [--accuracy-only]
       assay baseline ack CELL METRIC --owner WHO --reason WHY --expires DATE
       assay baseline acks
       assay baseline push REMOTE | pull REMOTE [--git-branch NAME]
       assay baseline copy PLACE

list   the stored runs, newest first, and the regressions that are open: while one is, no run of its
       cell becomes a baseline
show   the record of one stored run as JSON on stdout; redirect it to a file to pin it as a baseline
ack    accept the loss of a metric for some time: its FAIL decides nothing, and the baseline moves on
acks   what was accepted, by whom, why and until when
push   add what the store has to a branch of a git remote (a remote's name, an address or a folder)
pull   add what that branch has to the store
copy   add what the store has to another store

  --limit N          how many runs to list (default: 20)
  --accuracy-only    leave out the serving benchmarks, which mean nothing on another machine
  --owner WHO        who answers for it
  --reason WHY       why it may stay
  --expires DATE     the last day on which it holds, as 2026-12-31
  --git-branch NAME  branch that holds the runs (default: assay-baselines)
  --store PLACE      history of runs: a file (SQLite), a folder (with / at its end where it is new), or an
                     http(s) address (default: $ASSAY_STORE, else ~/.local/share/assay/store.db)

example
  assay baseline ack cpu.tiny-moe.smoke 128x32.tpot_p50_ms --owner kim --reason "new sampler" --expires 2026-12-31
)";

namespace {

struct Arguments {
  std::string place = DefaultStore();
  int limit = 20;
  std::string run_id, target;
  bool accuracy_only = false;
  gate::Acknowledgement acknowledgement;
  std::string git_branch = kBaselineBranch;
};

void ListRegressions(const std::vector<StoredRun>& runs,
                     const std::vector<gate::Acknowledgement>& acknowledgements) {
  const std::string today = UtcNow().substr(0, 10);
  for (const OpenRegression& open : AllOpenRegressions(runs)) {
    const auto* found =
        gate::FindAcknowledgement(acknowledgements, open.line.cell_key, open.regression.metric);
    std::string accepted = "blocks the baseline of this cell there";
    if (found != nullptr && gate::HoldsOn(*found, today)) accepted = "accepted by " + gate::Words(*found);
    if (found != nullptr && !gate::HoldsOn(*found, today)) accepted += ", accepted by " + gate::Words(*found);
    fmt::print("open regression on {} (host {}): {}: {}; {}\n", open.line.branch, open.line.host.substr(0, 8),
               open.line.cell_key, Words(open.regression), accepted);
  }
}

Status List(BaselineStore& store, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const std::vector<StoredRun> runs, store.Runs());
  ASSIGN_OR_RETURN(const auto acknowledgements, store.Acknowledgements());
  fmt::print("{:<22} {:<20} {:<5} {:<12} {:<28} {:<9} {}\n", "run", "created", "exit", "commit", "cell",
             "baseline", "branch");
  int lines = 0;
  for (const StoredRun& run : runs) {
    for (const StoredCell& cell : run.cells) {
      if (lines++ == arguments.limit) break;
      const bool may = cell.eligible && run.exit_code == 0 && run.status == "complete";
      fmt::print("{:<22} {:<20} {:<5} {:<12} {:<28} {:<9} {}\n", run.id, run.created, run.exit_code,
                 run.commit.substr(0, 12), cell.key, may ? "yes" : "no", run.branch);
    }
    if (lines >= arguments.limit) break;
  }
  ListRegressions(runs, acknowledgements);
  return {};
}

Status Show(BaselineStore& store, const Arguments& arguments) {
  ASSIGN_OR_RETURN(record::RunRecord record, store.Load(arguments.run_id));
  if (arguments.accuracy_only) {
    for (record::CellRecord& cell : record.cells) cell.serving.clear();
  }
  fmt::print("{}\n", record::ToJson(record).dump());
  return {};
}

bool IsDate(const std::string& text) {
  int year = 0, month = 0, day = 0, end = 0;
  if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &end) != 3 ||
      end != 10)
    return false;
  const auto date = std::chrono::year(year) / month / day;
  return date.ok();
}

// What cannot be of any use is a typing mistake.
Status CheckKnown(const std::vector<StoredRun>& runs, const gate::Acknowledgement& acknowledgement) {
  std::vector<std::string> metrics;
  bool cell_known = false;
  for (const StoredRun& run : runs) {
    for (const StoredCell& cell : run.cells) {
      if (cell.key != acknowledgement.cell) continue;
      cell_known = true;
      for (const auto& [metric, outcome] : cell.metrics) {
        if (metric == acknowledgement.metric) return {};
        if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) metrics.push_back(metric);
      }
    }
  }
  if (!cell_known) {
    return Fail(ErrorKind::kUsage, "no stored run has a cell {}; assay baseline list shows them",
                acknowledgement.cell);
  }
  return Fail(ErrorKind::kUsage, "{}: nothing called {} was ever compared; there is {}", acknowledgement.cell,
              acknowledgement.metric, metrics.empty() ? "nothing yet" : Join(metrics, ", "));
}

Status Acknowledge(BaselineStore& store, const Arguments& arguments) {
  gate::Acknowledgement acknowledgement = arguments.acknowledgement;
  acknowledgement.created = UtcNow();
  acknowledgement.id = NewRunId();
  if (!IsDate(acknowledgement.expires)) {
    return Fail(ErrorKind::kUsage, "--expires: must be a day as 2026-12-31, got {}", acknowledgement.expires);
  }
  if (!gate::HoldsOn(acknowledgement, acknowledgement.created.substr(0, 10)))
    return Fail(ErrorKind::kUsage, "--expires: {} is over", acknowledgement.expires);
  for (const auto& [flag, text] :
       {std::pair{"--owner", &acknowledgement.owner}, std::pair{"--reason", &acknowledgement.reason}}) {
    if (Trim(*text).empty()) return Fail(ErrorKind::kUsage, "{}: must not be empty", flag);
    *text = Printable(Trim(*text));
  }
  ASSIGN_OR_RETURN(const std::vector<StoredRun> runs, store.Runs());
  RETURN_IF_ERROR(CheckKnown(runs, acknowledgement));
  RETURN_IF_ERROR(store.Add(acknowledgement));
  fmt::print("{} of {} is accepted by {}\n", acknowledgement.metric, acknowledgement.cell,
             gate::Words(acknowledgement));
  return {};
}

Status ListAcknowledgements(BaselineStore& store, const Arguments&) {
  ASSIGN_OR_RETURN(const auto all, store.Acknowledgements());
  const std::string today = UtcNow().substr(0, 10);
  for (const gate::Acknowledgement& each : all) {
    fmt::print("{} {} {}: {} (since {}, {})\n", gate::HoldsOn(each, today) ? "holds" : "over ", each.cell,
               each.metric, gate::Words(each), each.created.substr(0, 10), each.id);
  }
  return {};
}

void PrintExchanged(const char* done, const Exchanged& exchanged) {
  fmt::print("{} {} run{} and {} acknowledgement{}\n", done, exchanged.runs, exchanged.runs == 1 ? "" : "s",
             exchanged.acknowledgements, exchanged.acknowledgements == 1 ? "" : "s");
}

Status Push(BaselineStore& store, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Exchanged exchanged, PushToGit(store, arguments.target, arguments.git_branch));
  PrintExchanged("pushed", exchanged);
  return {};
}

Status Pull(BaselineStore& store, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const Exchanged exchanged, PullFromGit(store, arguments.target, arguments.git_branch));
  PrintExchanged("pulled", exchanged);
  return {};
}

Status Copy(BaselineStore& store, const Arguments& arguments) {
  ASSIGN_OR_RETURN(const auto other, BaselineStore::Open(arguments.target));
  ASSIGN_OR_RETURN(const Exchanged exchanged, CopyMissing(store, *other));
  PrintExchanged("copied", exchanged);
  return {};
}

using Action = Status (*)(BaselineStore&, const Arguments&);

// Each verb with its arguments.
std::vector<std::pair<CLI::App*, Action>> AddVerbs(CLI::App& app, Arguments& arguments) {
  CLI::App* list = app.add_subcommand("list");
  list->add_option("--limit", arguments.limit)->check(CLI::Range(1, 1000000));
  CLI::App* show = app.add_subcommand("show");
  show->add_option("run", arguments.run_id)->required();
  show->add_flag("--accuracy-only", arguments.accuracy_only);
  CLI::App* ack = app.add_subcommand("ack");
  ack->add_option("cell", arguments.acknowledgement.cell)->required();
  ack->add_option("metric", arguments.acknowledgement.metric)->required();
  ack->add_option("--owner", arguments.acknowledgement.owner)->required();
  ack->add_option("--reason", arguments.acknowledgement.reason)->required();
  ack->add_option("--expires", arguments.acknowledgement.expires)->required();
  CLI::App* acks = app.add_subcommand("acks");
  CLI::App* push = app.add_subcommand("push");
  CLI::App* pull = app.add_subcommand("pull");
  for (CLI::App* verb : {push, pull}) {
    verb->add_option("remote", arguments.target)->required();
    verb->add_option("--git-branch", arguments.git_branch);
  }
  CLI::App* copy = app.add_subcommand("copy");
  copy->add_option("place", arguments.target)->required();
  return {{list, &List}, {show, &Show}, {ack, &Acknowledge}, {acks, &ListAcknowledgements},
          {push, &Push}, {pull, &Pull}, {copy, &Copy}};
}

}  // namespace

int BaselineCommand(int argc, char** argv) {
  Arguments arguments;
  CLI::App app;
  app.set_help_flag();
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--store", arguments.place);
  const auto verbs = AddVerbs(app, arguments);
  if (const auto exit_code = ParseArguments(app, argc, argv)) return *exit_code;

  const auto status = [&]() -> Status {
    ASSIGN_OR_RETURN(const auto store, BaselineStore::Open(arguments.place));
    for (const auto& [verb, action] : verbs) {
      if (verb->parsed()) return action(*store, arguments);
    }
    return {};
  }();
  if (status) return kExitPass;
  fmt::print(stderr, "assay baseline: {}\n", status.error().message);
  return ExitCodeOf(status.error().kind);
}

}  // namespace assay::runner
