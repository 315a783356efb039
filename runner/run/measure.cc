#include "runner/run/measure.h"

#include "runner/run/report_input.h"
#include "runner/run/run_cell.h"
#include "runner/run/run_folder.h"

namespace assay::runner {

Result<record::RunRecord> Measure(const Cell& cell, const gate::CellPolicy& policy, const Path& folder,
                                  const std::vector<std::string>& command,
                                  const std::atomic<bool>& interrupted) {
  record::RunRecord record = NewRunRecord(command, "");
  RETURN_IF_ERROR(ClaimRunFolder(folder, record.id));
  ASSIGN_OR_RETURN(const auto journal, Journal::Open(folder / kJournalFile));
  journal->Begin(cell.key, cell.config_hash);
  auto measured = RunCell(cell, policy, {}, folder, *journal, interrupted, [](const record::CellRecord&) {});
  if (!measured) return FailWithin(cell.key, std::move(measured).error());
  record.cells = {std::move(*measured)};
  record.status = interrupted ? "interrupted" : record.cells.front().server.failure ? "failed" : "complete";
  RETURN_IF_ERROR(SaveRunRecord(record, folder / kRecordFile));
  return record;
}

Result<record::Verdict> JudgeAndReport(const record::RunRecord& run, const gate::CellPolicy& policy,
                                       const Path& folder) {
  const std::vector<gate::CellPolicy> policies{policy};
  const record::Verdict verdict = gate::Judge(run, policies);
  RETURN_IF_ERROR(WriteReports(MakeReportInput(run, verdict, policies, folder), folder));
  return verdict;
}

}  // namespace assay::runner
