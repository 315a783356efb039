#pragma once

#include <vector>

#include "gate/judge.h"
#include "runner/store/baseline_store.h"

namespace assay::runner {

// What the store is to know of a judged run, and above all which of its cells later runs may be compared
// with: none while a regression of the cell is open on the branch, so that the baseline never follows a loss
// that nobody has accepted. `earlier` are the runs in the store, newest first; `policies` those of the
// record's cells.
StoredRun DescribeJudged(const record::RunRecord& record, const record::Verdict& verdict,
                         const std::vector<gate::CellPolicy>& policies,
                         const std::vector<StoredRun>& earlier);

}  // namespace assay::runner
