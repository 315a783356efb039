#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "record/run_record.h"
#include "record/verdict.h"

namespace assay::runner {

// Which run comes when: ABBA ABBA ..., so that a machine that drifts does so for both arms alike.
struct InterleavePlan {
  int64_t first_look = 4, most = 8;  // pairs
  bool head_first = false;           // in the first pair
  std::optional<TimePoint> deadline;
};

inline bool HeadRunsFirst(const InterleavePlan& plan, int64_t pair) {
  return plan.head_first == (pair % 2 == 1);
}

struct InterleaveHooks {
  // One run of one arm. What its server does wrong is in the record; after an interrupt it may be cut short.
  std::function<Result<record::CellRecord>(int64_t pair, bool head)> measure;
  std::function<record::Verdict(const record::RunRecord&)> judge;
  std::function<Status(const record::RunRecord&)> keep;  // after each run, so that it survives us
};

// Measures pairs until a verdict is decided, all are measured, another pair would outlast the deadline, or
// the user interrupts; record.ab->ended says which. The first pair is always measured.
Status Interleave(const InterleavePlan& plan, const InterleaveHooks& hooks, Clock& clock,
                  const std::atomic<bool>& interrupted, record::RunRecord& record);

}  // namespace assay::runner
