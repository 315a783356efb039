#include "runner/run/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "assay_version.h"
#include "base/clock.h"
#include "base/log.h"
#include "gate/judge.h"
#include "reports/report.h"
#include "runner/cli/exit_code.h"
#include "runner/plan/plan.h"
#include "runner/run/baseline_choice.h"
#include "runner/run/interrupt.h"
#include "runner/run/journal.h"
#include "runner/run/run_cell.h"
#include "runner/run/subject.h"
#include "runner/run/vocabulary.h"
#include "runner/store/baseline_store.h"

namespace assay::runner {
namespace {

using record::RunRecord;

constexpr char kRecordFile[] = "record.json";

RunRecord NewRecord(const RunOptions& options) {
  const Subject subject = DetectSubject(std::filesystem::current_path());
  RunRecord record;
  record.id = NewRunId();
  record.created = UtcNow();
  record.assay_version = ASSAY_VERSION;
  record.assay_commit = ASSAY_COMMIT;
  record.repository = subject.repository;
  record.branch = options.branch.empty() ? subject.branch : options.branch;
  record.commit = subject.commit;
  record.command = options.command;
  record.status = "running";
  return record;
}

Result<Path> MakeOutFolder(const RunOptions& options, const std::string& run_id) {
  const Path folder = options.out.empty() ? Path("out") / run_id : options.out;
  if (std::filesystem::exists(folder / kRecordFile)) {
    return Fail(ErrorKind::kUsage, "{}: already holds a run; choose another --out", folder.string());
  }
  RETURN_IF_ERROR(MakeFolders(folder));
  return folder;
}

// Every cell in turn. The record on disk is never more than one eval behind.
Status RunCells(const std::vector<Cell>& cells, const Path& folder, RunRecord& record) {
  const std::atomic<bool>& interrupted = CatchInterrupts();
  ASSIGN_OR_RETURN(const auto journal, Journal::Open(folder / "journal.jsonl"));
  for (const Cell& cell : cells) {
    if (interrupted) break;
    record.cells.emplace_back();
    const auto keep = [&](const record::CellRecord& so_far) {
      record.cells.back() = so_far;
      if (const Status saved = SaveRunRecord(record, folder / kRecordFile); !saved)
        spdlog::warn("{}", saved.error().message);
    };
    auto result = RunCell(cell, folder, *journal, interrupted, keep);
    if (!result) return FailWithin(cell.key, std::move(result).error());
    record.cells.back() = std::move(*result);
  }
  const bool failed = std::any_of(record.cells.begin(), record.cells.end(),
                                  [](const auto& cell) { return cell.server.failure.has_value(); });
  record.status = interrupted ? "interrupted" : failed ? "failed" : "complete";
  return {};
}

Result<record::Verdict> JudgeRun(const RunOptions& options, const std::vector<Cell>& cells,
                                 const RunRecord& record, BaselineStore* store) {
  std::vector<gate::CellPolicy> policies;
  for (size_t i = 0; i < record.cells.size(); ++i) {
    gate::Policy policy = cells[i].config.gate;
    policy.strict = options.strict;
    policy.allow_missing_baseline |= options.allow_missing_baseline;
    ASSIGN_OR_RETURN(gate::Baseline baseline, ChooseBaseline(cells[i], options.baseline, store));
    policies.push_back({cells[i].key, std::move(policy), std::move(baseline)});
  }
  record::Verdict verdict = gate::Judge(record, policies);
  for (size_t i = 0; store != nullptr && i < record.cells.size(); ++i) {
    const gate::BaselinePolicy& baseline = policies[i].policy.baseline;
    if (baseline.kind != gate::BaselinePolicyKind::kRolling || record.branch == baseline.branch) continue;
    verdict.notes.push_back(
        {cells[i].key, "baseline",
         fmt::format("stored as a run of {}, so later runs, which are compared with {}, will not be "
                     "compared with it (--branch names the branch)",
                     record.branch.empty() ? "no branch" : record.branch, baseline.branch)});
  }
  return verdict;
}

Status WriteReports(const RunRecord& record, const record::Verdict& verdict, const Path& folder) {
  for (const reports::Report& report : reports::ReportTable()) {
    RETURN_IF_ERROR(WriteFileAtomic(folder / report.file_name, report.render(record, verdict)));
  }
  return {};
}

// Refuses before anything is launched: no plan, a store that cannot be used, a machine that does not fit.
Result<std::unique_ptr<BaselineStore>> OpenStore(const RunOptions& options) {
  if (!options.use_store) return nullptr;
  return BaselineStore::Open(options.store.empty() ? DefaultStoreFile() : options.store);
}

}  // namespace

Result<int> Run(const RunOptions& options) {
  ASSIGN_OR_RETURN(std::vector<Cell> cells, MakePlan(options.configs, options.suite));
  if (options.dry_run) {
    fmt::print("{}", DescribePlan(cells));
    return kExitPass;
  }
  for (Cell& cell : cells) {
    RETURN_IF_ERROR(Preflight(cell));
    RETURN_IF_ERROR(FillVocabulary(cell));
  }
  ASSIGN_OR_RETURN(const auto store, OpenStore(options));

  RunRecord record = NewRecord(options);
  ASSIGN_OR_RETURN(const Path folder, MakeOutFolder(options, record.id));
  RETURN_IF_ERROR(RunCells(cells, folder, record));
  RETURN_IF_ERROR(SaveRunRecord(record, folder / kRecordFile));

  ASSIGN_OR_RETURN(const record::Verdict verdict, JudgeRun(options, cells, record, store.get()));
  RETURN_IF_ERROR(WriteReports(record, verdict, folder));
  if (store && record.status != "interrupted") RETURN_IF_ERROR(store->Add(record, verdict.exit_code));
  fmt::print("{}\nreport  {}\nrecord  {}\n",
             reports::RenderTerminal(record, verdict, ::isatty(STDOUT_FILENO) == 1),
             (folder / "report.md").string(), (folder / kRecordFile).string());
  return verdict.exit_code;
}

}  // namespace assay::runner
