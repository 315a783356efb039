#include "runner/run/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

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
constexpr char kJournalFile[] = "journal.jsonl";

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

// Of several runs that were given one folder, only one may have it: the journal is created, never opened.
Status ClaimFolder(const Path& folder) {
  const int fd = ::open((folder / kJournalFile).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) {
    return Fail(ErrorKind::kUsage, "{}: holds another run's journal; choose another --out", folder.string());
  }
  if (fd < 0) return Fail(ErrorKind::kUsage, "--out: {}: {}", folder.string(), std::strerror(errno));
  ::close(fd);
  return {};
}

Result<Path> MakeOutFolder(const RunOptions& options, const std::string& run_id) {
  const Path folder = options.out.empty() ? Path("out") / run_id : options.out;
  if (std::filesystem::exists(folder / kRecordFile)) {
    return Fail(ErrorKind::kUsage, "{}: already holds a run; choose another --out", folder.string());
  }
  if (const Status made = MakeFolders(folder); !made)
    return Fail(ErrorKind::kUsage, "--out: {}", made.error().message);
  RETURN_IF_ERROR(ClaimFolder(folder));
  return folder;
}

// Every cell in turn. The record on disk is never more than one eval behind.
Status RunCells(const std::vector<Cell>& cells, const Path& folder, RunRecord& record) {
  const std::atomic<bool>& interrupted = CatchInterrupts();
  RETURN_IF_ERROR(SaveRunRecord(record, folder / kRecordFile));
  ASSIGN_OR_RETURN(const auto journal, Journal::Open(folder / kJournalFile));
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

// How each cell will be judged and with what compared: settled before anything is launched, so that a
// baseline that is not there costs no machine time.
Result<std::vector<gate::CellPolicy>> ChoosePolicies(const RunOptions& options,
                                                     const std::vector<Cell>& cells,
                                                     const std::string& repository, BaselineStore* store) {
  std::vector<gate::CellPolicy> policies;
  for (const Cell& cell : cells) {
    gate::Policy policy = cell.config.gate;
    policy.strict = options.strict;
    policy.allow_missing_baseline |= options.allow_missing_baseline;
    ASSIGN_OR_RETURN(gate::Baseline baseline, ChooseBaseline(cell, options.baseline, repository, store));
    policies.push_back({cell.key, std::move(policy), std::move(baseline)});
  }
  return policies;
}

// A run of another branch is kept, but what it is for must not be mistaken.
void NoteOtherBranch(const RunRecord& record, const std::vector<gate::CellPolicy>& policies,
                     record::Verdict& verdict) {
  for (const gate::CellPolicy& policy : policies) {
    const gate::BaselinePolicy& baseline = policy.policy.baseline;
    if (baseline.kind != gate::BaselinePolicyKind::kRolling || record.branch == baseline.branch) continue;
    verdict.notes.push_back(
        {policy.cell_key, "baseline",
         fmt::format("stored as a run of {}, so later runs, which are compared with {}, will not be compared "
                     "with it (--branch names the branch)",
                     record.branch.empty() ? "no branch" : record.branch, baseline.branch)});
  }
}

// Whether later runs may be compared with this one. A passing run that is significantly slower, though not by
// a proven margin, is not: the baseline must not follow a loss. One that only varies as runs do is: taking
// the fast ones alone would raise the bar by chance.
bool MayBecomeBaseline(const std::vector<gate::CellPolicy>& policies, const record::Verdict& verdict) {
  for (const gate::CellPolicy& policy : policies) {
    if (!policy.baseline.requested) return false;
  }
  const auto slower = [](const record::Check& check) {
    if (!check.primary || check.rule != "performance" || !check.ci_low || !check.ci_high) return false;
    const bool higher = check.direction == record::Direction::kHigherIsBetter;
    return check.outcome == record::Outcome::kInconclusive &&
           (higher ? *check.ci_high < 0 : *check.ci_low > 0);
  };
  return std::none_of(verdict.checks.begin(), verdict.checks.end(), slower);
}

Status WriteReports(const RunRecord& record, const record::Verdict& verdict, const Path& folder) {
  for (const reports::Report& report : reports::ReportTable()) {
    RETURN_IF_ERROR(WriteFileAtomic(folder / report.file_name, report.render(record, verdict)));
  }
  return {};
}

Result<std::unique_ptr<BaselineStore>> OpenStore(const RunOptions& options) {
  if (!options.use_store) return nullptr;
  return BaselineStore::Open(options.store.empty() ? DefaultStoreFile() : options.store);
}

}  // namespace

Result<int> Run(const RunOptions& options) {
  CatchInterrupts();
  ASSIGN_OR_RETURN(std::vector<Cell> cells, MakePlan(options.configs, options.suite, options.hardware));
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

  RunRecord record = NewRecord(options);
  ASSIGN_OR_RETURN(const std::vector<gate::CellPolicy> policies,
                   ChoosePolicies(options, cells, record.repository, store.get()));
  ASSIGN_OR_RETURN(const Path folder, MakeOutFolder(options, record.id));
  RETURN_IF_ERROR(RunCells(cells, folder, record));
  RETURN_IF_ERROR(SaveRunRecord(record, folder / kRecordFile));

  // An interrupted run has fewer cells than policies.
  const std::vector<gate::CellPolicy> judged(policies.begin(),
                                             policies.begin() + static_cast<long>(record.cells.size()));
  record::Verdict verdict = gate::Judge(record, judged);
  if (store) NoteOtherBranch(record, judged, verdict);
  RETURN_IF_ERROR(WriteReports(record, verdict, folder));
  fmt::print("{}\nreport  {}\nrecord  {}\n",
             reports::RenderTerminal(record, verdict, ::isatty(STDOUT_FILENO) == 1),
             (folder / "report.md").string(), (folder / kRecordFile).string());
  if (store && record.status != "interrupted") {
    const Status added = store->Add(record, verdict.exit_code, MayBecomeBaseline(judged, verdict));
    if (!added) {  // the verdict stands whatever becomes of the history
      spdlog::error("this run is not in the history: {}", added.error().message);
      if (verdict.exit_code == kExitPass) return kExitInfrastructure;
    }
  }
  return verdict.exit_code;
}

}  // namespace assay::runner
