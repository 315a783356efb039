#pragma once

#include <functional>
#include <vector>

#include "evals/gpqa/gpqa.h"
#include "gate/judge.h"
#include "record/run_record.h"

namespace assay::runner {

// What an accuracy eval is told of the rest of the run: where its samples go, which of them there are
// already, and, with stop: when-certain, when the gate has seen enough. `cell` and `policy` must outlive the
// eval.
evals::GpqaHooks MakeGpqaHooks(const evals::GpqaOptions& options, const record::CellRecord& cell,
                               const gate::CellPolicy& policy,
                               std::function<void(const record::QuestionSample&)> on_sample,
                               std::vector<record::QuestionSample> kept);

}  // namespace assay::runner
