#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/result.h"
#include "gate/judge.h"
#include "record/run_record.h"
#include "runner/plan/plan.h"

namespace assay::runner {

// One cell on a fresh server, as a run of its own: record, journal and the server's log go into `folder`,
// which must not hold a run yet.
Result<record::RunRecord> Measure(const Cell& cell, const gate::CellPolicy& policy, const Path& folder,
                                  const std::vector<std::string>& command,
                                  const std::atomic<bool>& interrupted);

// The gate's verdict on such a run, with its reports beside the record.
Result<record::Verdict> JudgeAndReport(const record::RunRecord& run, const gate::CellPolicy& policy,
                                       const Path& folder);

}  // namespace assay::runner
