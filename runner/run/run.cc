#include "runner/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/log.h"
#include "gate/conclude.h"
#include "runner/cli/exit_code.h"
#include "runner/plan/plan.h"
#include "runner/plan/select_cell.h"
#include "runner/run/advance.h"
#include "runner/run/baseline_choice.h"
#include "runner/run/interrupt.h"
#include "runner/run/journal.h"
#include "runner/run/judged_file.h"
#include "runner/run/report_input.h"
#include "runner/run/run_cell.h"
#include "runner/run/run_folder.h"
#include "runner/run/vocabulary.h"
#include "runner/store/baseline_store.h"

namespace assay::runner {
namespace {

using record::RunRecord;

// What an earlier attempt has of this cell.
EarlierCell EarlierOf(const EarlierAttempt& earlier, const Cell& cell) {
  EarlierCell found;
  for (const record::CellRecord& record : earlier.record.cells) {
    if (record.key == cell.key && record.config_hash == cell.config_hash) found.record = &record;
  }
  const auto journal = earlier.journal.find(cell.key);
  if (journal != earlier.journal.end()) found.samples = journal->second.samples;
  return found;
}

// Configs may have been edited since: then what was measured is not what would be.
Status CheckSamePlan(const EarlierAttempt& earlier, const std::vector<Cell>& cells, const Path& folder) {
  for (const auto& [key, journal] : earlier.journal) {
    const bool same = std::any_of(cells.begin(), cells.end(), [&](const Cell& cell) {
      return key == cell.key && journal.config_hash == cell.config_hash;
    });
    if (same || journal.samples.empty()) continue;
    return Fail(ErrorKind::kUsage,
                "--resume: the run in {} measured a cell {} that the configs no longer describe so",
                folder.string(), key);
  }
  return {};
}

// What the cell's accuracy eval asks, and nothing when it has none.
Result<std::map<std::string, std::string>> AskedBy(const Cell& cell) {
  if (!cell.config.evals.gpqa) return std::map<std::string, std::string>{};
  evals::GpqaOptions options = *cell.config.evals.gpqa;
  options.model = cell.launch.model_id;
  auto asked = evals::WhatIsAsked(options);
  if (!asked) return FailWithin(cell.key, std::move(asked).error());
  return asked;
}

// Data sets and prompts are files, and may have been edited as well.
Status CheckSameAskedByAll(const EarlierAttempt& earlier, const std::vector<Cell>& cells,
                           const Path& folder) {
  for (const Cell& cell : cells) {
    const auto journal = earlier.journal.find(cell.key);
    if (journal == earlier.journal.end()) continue;
    ASSIGN_OR_RETURN(const auto asked, AskedBy(cell));
    RETURN_IF_ERROR(CheckSameAsked(journal->second, asked, folder));
  }
  return {};
}

// Flags that override the configs.
void ApplyFlags(const RunOptions& options, std::vector<Cell>& cells) {
  for (Cell& cell : cells) {
    auto& gpqa = cell.config.evals.gpqa;
    if (!gpqa) continue;
    if (!options.stop.empty()) gpqa->stop = options.stop;
    if (options.stop_error) gpqa->stop_error = *options.stop_error;
    gpqa->include_text = options.include_text;
  }
}

// Certainty is about a verdict, and without a threshold and a baseline there is none.
Status CheckSomethingDecides(const std::vector<Cell>& cells, const std::vector<gate::CellPolicy>& policies) {
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto& gpqa = cells[i].config.evals.gpqa;
    if (!gpqa || gpqa->stop != "when-certain") continue;
    const gate::Policy& policy = policies[i].policy;
    if (policy.threshold || (policy.accuracy.paired && policies[i].baseline.requested)) continue;
    return Fail(ErrorKind::kUsage,
                "{}: stop: when-certain needs a threshold or a baseline; with neither there is nothing to be "
                "certain of",
                cells[i].key);
  }
  return {};
}

// Every cell in turn. The record on disk is never more than one eval behind.
Status RunCells(const std::vector<Cell>& cells, const std::vector<gate::CellPolicy>& policies,
                const EarlierAttempt& earlier, const Path& folder, Journal& journal, RunRecord& record) {
  const std::atomic<bool>& interrupted = CatchInterrupts();
  // What the earlier attempt wrote stays until there is more.
  if (earlier.record.cells.empty()) RETURN_IF_ERROR(SaveRunRecord(record, folder / kRecordFile));
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (interrupted) break;
    record.cells.emplace_back();
    journal.Begin(cell.key, cell.config_hash);
    ASSIGN_OR_RETURN(const auto asked, AskedBy(cell));
    if (!asked.empty()) journal.BeginGpqa(cell.key, asked);
    const auto keep = [&](const record::CellRecord& so_far) {
      record.cells.back() = so_far;
      if (const Status saved = SaveRunRecord(record, folder / kRecordFile); !saved)
        spdlog::warn("{}", saved.error().message);
    };
    auto result = RunCell(cell, policies[i], EarlierOf(earlier, cell), folder, journal, interrupted, keep);
    if (!result) return FailWithin(cell.key, std::move(result).error());
    record.cells.back() = std::move(*result);
  }
  const bool failed = std::any_of(record.cells.begin(), record.cells.end(),
                                  [](const auto& cell) { return cell.server.failure.has_value(); });
  record.status = interrupted ? "interrupted" : failed ? "failed" : "complete";
  return {};
}

// How each cell will be judged and with what compared: settled before anything is launched, so that a
// baseline that is not there costs no machine time.
Result<std::vector<gate::CellPolicy>> ChoosePolicies(const RunOptions& options,
                                                     const std::vector<Cell>& cells, const RunRecord& subject,
                                                     BaselineStore* store) {
  std::vector<gate::CellPolicy> policies;
  std::vector<gate::Acknowledgement> acknowledgements;
  if (store != nullptr) {
    ASSIGN_OR_RETURN(acknowledgements, store->Acknowledgements());
  }
  for (const Cell& cell : cells) {
    gate::Policy policy = cell.config.gate;
    policy.strict = options.strict;
    policy.allow_missing_baseline |= options.allow_missing_baseline;
    policy.acknowledgements = acknowledgements;
    policy.today = UtcNow().substr(0, 10);
    auto chosen = ChooseBaseline(cell, policy, options.baseline, subject, store);
    if (!chosen) return FailWithin(cell.key, std::move(chosen).error());
    gate::Baseline baseline = std::move(*chosen);
    // What is judged, kept and reported speaks of the branch that was compared with.
    if (NamesBranch(options.baseline)) {
      policy.baseline.branch = options.baseline;
      policy.baseline.kind = gate::BaselinePolicyKind::kRolling;
    }
    policies.push_back({cell.key, std::move(policy), std::move(baseline)});
  }
  return policies;
}

// A run of another branch is kept, but what it is for must not be mistaken.
void NoteOtherBranch(const RunRecord& record, const gate::CellPolicy& policy, gate::JudgedCell& judged) {
  const gate::BaselinePolicy& baseline = policy.policy.baseline;
  const bool of_branch = baseline.kind == gate::BaselinePolicyKind::kRolling ||
                         baseline.kind == gate::BaselinePolicyKind::kMergeBase;
  if (!of_branch || record.branch == baseline.branch) return;
  judged.verdict.notes.push_back(
      {policy.cell_key, "baseline",
       fmt::format("stored as a run of {}, so later runs, which are compared with {}, will not be compared "
                   "with it (--branch names the branch)",
                   record.branch.empty() ? "no branch" : record.branch, baseline.branch)});
}

std::vector<gate::JudgedCell> JudgeEach(const RunRecord& record,
                                        const std::vector<gate::CellPolicy>& policies, bool stored) {
  std::vector<gate::JudgedCell> cells;
  for (size_t i = 0; i < record.cells.size(); ++i) {
    cells.push_back(gate::JudgeAlone(record.cells[i], policies[i], record.created));
    if (stored) NoteOtherBranch(record, policies[i], cells.back());
  }
  return cells;
}

// The history is exported into repositories, where questions have no business.
void RemoveText(RunRecord& record) {
  for (record::CellRecord& cell : record.cells) {
    if (!cell.accuracy) continue;
    cell.accuracy->has_text = false;
    for (record::QuestionSample& sample : cell.accuracy->samples) {
      sample.prompt.clear();
      sample.answer.clear();
    }
  }
}

Result<std::unique_ptr<BaselineStore>> OpenStore(const RunOptions& options) {
  if (!options.use_store) return nullptr;
  return BaselineStore::Open(options.store.empty() ? DefaultStore() : options.store);
}

Status Store(RunRecord record, const record::Verdict& verdict, const std::vector<gate::CellPolicy>& policies,
             BaselineStore& store) {
  ASSIGN_OR_RETURN(const std::vector<StoredRun> earlier, store.Runs());
  RemoveText(record);
  return store.Add(DescribeJudged(record, verdict, policies, earlier), record);
}

}  // namespace

Result<int> Run(const RunOptions& options) {
  CatchInterrupts();
  ASSIGN_OR_RETURN(std::vector<Cell> cells, MakePlan(options.configs, options.suite, options.hardware));
  if (options.cell) {
    ASSIGN_OR_RETURN(cells, SelectCell(std::move(cells), *options.cell));
  }
  ApplyFlags(options, cells);
  if (options.dry_run) {
    fmt::print("{}", DescribePlan(cells));
    return kExitPass;
  }
  for (Cell& cell : cells) {
    for (const std::string& note : cell.config.notes) spdlog::warn("{}: {}", cell.key, note);
    RETURN_IF_ERROR(Preflight(cell));
    RETURN_IF_ERROR(FillVocabulary(cell));
  }
  ASSIGN_OR_RETURN(const auto store, OpenStore(options));

  RunRecord record = NewRunRecord(options.command, options.branch);
  EarlierAttempt earlier;
  std::unique_ptr<Journal> journal;
  if (!options.resume.empty()) {
    // First: nobody else writes what is read.
    ASSIGN_OR_RETURN(journal, Journal::Open(options.resume / kJournalFile));
    ASSIGN_OR_RETURN(earlier, LoadEarlierAttempt(options.resume));
    RETURN_IF_ERROR(CheckSameChange(earlier.record, record, options.resume));
    RETURN_IF_ERROR(CheckSamePlan(earlier, cells, options.resume));
    RETURN_IF_ERROR(CheckSameAskedByAll(earlier, cells, options.resume));
    record.id = earlier.record.id;
    record.created = earlier.record.created;
    record.command = earlier.record.command;
  }
  ASSIGN_OR_RETURN(const std::vector<gate::CellPolicy> policies,
                   ChoosePolicies(options, cells, record, store.get()));
  RETURN_IF_ERROR(CheckSomethingDecides(cells, policies));
  Path folder = options.resume;
  if (folder.empty()) {
    ASSIGN_OR_RETURN(folder, ClaimRunFolder(options.out, record.id));
    ASSIGN_OR_RETURN(journal, Journal::Open(folder / kJournalFile));
  }
  RETURN_IF_ERROR(RunCells(cells, policies, earlier, folder, *journal, record));
  RETURN_IF_ERROR(SaveRunRecord(record, folder / kRecordFile));

  // An interrupted run has fewer cells than policies.
  const std::vector<gate::CellPolicy> judged(policies.begin(),
                                             policies.begin() + static_cast<long>(record.cells.size()));
  const std::vector<gate::JudgedCell> each = JudgeEach(record, judged, store != nullptr);
  const record::Verdict verdict = gate::Conclude(record, each);
  reports::ReportInput input = MakeReportInput(record, verdict, judged, folder);
  input.language = options.language;
  RETURN_IF_ERROR(SaveJudgedRun({input.base_name, each}, folder / kJudgedFile));
  RETURN_IF_ERROR(Publish(input, folder));
  if (store && record.status != "interrupted") {
    const Status added = Store(std::move(record), verdict, judged, *store);
    if (!added) {  // the verdict stands whatever becomes of the history
      spdlog::error("this run is not in the history: {}", added.error().message);
      if (verdict.exit_code == kExitPass && !store->IsReadOnly()) return kExitInfrastructure;
    }
  }
  return verdict.exit_code;
}

}  // namespace assay::runner
