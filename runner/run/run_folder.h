#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "record/verdict.h"
#include "reports/report.h"
#include "runner/run/journal.h"

// The folder that a run writes: record.json, journal.jsonl, the reports and the servers' logs.
namespace assay::runner {

inline constexpr char kRecordFile[] = "record.json";
inline constexpr char kJournalFile[] = "journal.jsonl";

// A record with what is known before anything is measured; its status is "running".
record::RunRecord NewRunRecord(const std::vector<std::string>& command, const std::string& branch);

// Makes `out`, or out/<run id> when it is empty. Of several runs that were given one folder only one may have
// it, and a folder that already holds a run is refused.
Result<Path> ClaimRunFolder(const Path& out, const std::string& run_id);

// Every format of reports::ReportTable() into the folder.
Status WriteReports(const reports::ReportInput& input, const Path& folder);
// The same, and the few lines for the terminal with where the rest is.
Status Publish(const reports::ReportInput& input, const Path& folder);

// What an attempt left that was killed or interrupted.
struct EarlierAttempt {
  record::RunRecord record;
  std::map<std::string, JournalCell> journal;
};
Result<EarlierAttempt> LoadEarlierAttempt(const Path& folder);

// Samples are taken over only when they were measured on the same change.
Status CheckSameChange(const record::RunRecord& earlier, const record::RunRecord& now, const Path& folder);
// ... and on the same questions, asked of the same model in the same way (evals::WhatIsAsked).
Status CheckSameAsked(const JournalCell& earlier, const std::map<std::string, std::string>& now,
                      const Path& folder);

}  // namespace assay::runner
