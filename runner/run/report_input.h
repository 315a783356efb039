#pragma once

#include <vector>

#include "gate/judge.h"
#include "reports/report.h"

namespace assay::runner {

// What a report shows beside record and verdict: the earlier cells, what both arms are called, where the CI
// job is. All three must outlive it.
reports::ReportInput MakeReportInput(const record::RunRecord& record, const record::Verdict& verdict,
                                     const std::vector<gate::CellPolicy>& policies, const Path& folder);

}  // namespace assay::runner
