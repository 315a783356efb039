#pragma once

#include <atomic>
#include <functional>

#include "base/result.h"
#include "gate/judge.h"
#include "record/run_record.h"
#include "runner/plan/plan.h"
#include "runner/run/journal.h"

namespace assay::runner {

// What an earlier attempt at this cell left; empty when there was none.
struct EarlierCell {
  const record::CellRecord* record = nullptr;
  std::vector<record::QuestionSample> samples;  // of the accuracy eval, in the order they finished
};

// Starts the cell's server, runs its evals one after the other, stops the server. What the server did wrong
// is in the returned record; an Error means that we could not try. `on_stage` runs after each eval with the
// record so far, so that it can be kept on disk. What `earlier` has is not measured again; a cell that it has
// whole is taken as it is. `policy` says when an eval with stop: when-certain may end.
Result<record::CellRecord> RunCell(Cell cell, const gate::CellPolicy& policy, EarlierCell earlier,
                                   const Path& folder, Journal& journal, const std::atomic<bool>& interrupted,
                                   const std::function<void(const record::CellRecord&)>& on_stage);

// The same on a server that runs already and goes on running; assay neither started it nor knows its process.
Result<record::CellRecord> RunCellOn(Server& server, const Cell& cell, const gate::CellPolicy& policy,
                                     Journal& journal, const std::atomic<bool>& interrupted,
                                     const std::function<void(const record::CellRecord&)>& on_stage);

}  // namespace assay::runner
