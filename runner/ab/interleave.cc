#include "runner/ab/interleave.h"

#include <algorithm>

#include "base/log.h"
#include "gate/ab/judge_ab.h"

namespace assay::runner {
namespace {

enum class PairEnd { kMeasured, kServerFailed, kInterrupted };

class Interleaving {
 public:
  Interleaving(const InterleavePlan& plan, const InterleaveHooks& hooks, Clock& clock,
               const std::atomic<bool>& interrupted, record::RunRecord& record)
      : plan_(plan), hooks_(hooks), clock_(clock), interrupted_(interrupted), record_(record) {}

  Status Run() {
    for (int64_t pair = 1;; ++pair) {
      if (OutOfTime()) return End("budget");
      const TimePoint start = clock_.Now();
      ASSIGN_OR_RETURN(const PairEnd end, MeasurePair(pair));
      if (end == PairEnd::kInterrupted) return {};
      if (end == PairEnd::kServerFailed) return End("decided");
      longest_ = std::max(longest_, clock_.Now() - start);
      const record::Verdict verdict = hooks_.judge(record_);
      spdlog::info("after pair {} of {} to {}: {}", pair, plan_.first_look, plan_.most, verdict.headline);
      // Nothing may pass before the first look; what is broken or dead is so at once.
      const bool passes = verdict.outcome == record::Outcome::kPass;
      if (gate::IsDecided(verdict) && (!passes || pair >= plan_.first_look)) return End("decided");
      if (pair == plan_.most) return End("pairs");
    }
  }

 private:
  Status End(const char* why) {
    record_.ab->ended = why;
    return {};
  }

  bool OutOfTime() const {
    return plan_.deadline && !record_.cells.empty() && clock_.Now() + longest_ > *plan_.deadline;
  }

  Result<PairEnd> MeasurePair(int64_t pair) {
    const bool head_first = HeadRunsFirst(plan_, pair);
    for (const bool head : {head_first, !head_first}) {
      if (interrupted_) return PairEnd::kInterrupted;
      const record::Arm& arm = head ? record_.ab->head : record_.ab->base;
      spdlog::info("pair {} of {} to {}: {} ({})", pair, plan_.first_look, plan_.most, arm.name, arm.what);
      ASSIGN_OR_RETURN(record::CellRecord cell, hooks_.measure(pair, head));
      const bool failed = cell.server.failure.has_value();
      record_.cells.push_back(std::move(cell));
      record_.ab->runs.push_back({pair, arm.name});
      RETURN_IF_ERROR(hooks_.keep(record_));
      if (interrupted_) return PairEnd::kInterrupted;
      if (failed) return PairEnd::kServerFailed;
    }
    return PairEnd::kMeasured;
  }

  const InterleavePlan& plan_;
  const InterleaveHooks& hooks_;
  Clock& clock_;
  const std::atomic<bool>& interrupted_;
  record::RunRecord& record_;
  Nanoseconds longest_{0};
};

}  // namespace

Status Interleave(const InterleavePlan& plan, const InterleaveHooks& hooks, Clock& clock,
                  const std::atomic<bool>& interrupted, record::RunRecord& record) {
  return Interleaving(plan, hooks, clock, interrupted, record).Run();
}

}  // namespace assay::runner
