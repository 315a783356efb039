#pragma once

#include <atomic>
#include <functional>

#include "base/result.h"
#include "record/run_record.h"
#include "runner/plan/plan.h"
#include "runner/run/journal.h"

namespace assay::runner {

// Starts the cell's server, runs its evals one after the other, stops the server. What the server did wrong
// is in the returned record; an Error means that we could not try. `on_stage` runs after each eval with the
// record so far, so that it can be kept on disk.
Result<record::CellRecord> RunCell(Cell cell, const Path& folder, Journal& journal,
                                   const std::atomic<bool>& interrupted,
                                   const std::function<void(const record::CellRecord&)>& on_stage);

}  // namespace assay::runner
