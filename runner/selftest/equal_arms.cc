#include "runner/selftest/equal_arms.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/clock.h"
#include "base/text.h"
#include "runner/cli/exit_code.h"
#include "runner/run/baseline_choice.h"
#include "runner/run/interrupt.h"
#include "runner/run/may_become_baseline.h"
#include "runner/run/measure.h"
#include "runner/selftest/bench_cell.h"
#include "runner/selftest/fault_result.h"

namespace assay::runner {

using record::Outcome;

void Add(const record::Verdict& verdict, EqualArmsTally& tally) {
  switch (verdict.outcome) {
    case Outcome::kPass:
      ++tally.pass;
      return;
    case Outcome::kInconclusive:
      ++tally.inconclusive;
      return;
    case Outcome::kInvalid:
      ++tally.invalid;
      break;
    case Outcome::kInfrastructure:
      ++tally.infrastructure;
      break;
    case Outcome::kFail:
      ++tally.fail;
      break;
  }
  tally.false_alarms.push_back(
      fmt::format("decision {}: {}", tally.Decisions(), Printable(verdict.headline)));
}

std::string EqualArmsText(const EqualArmsTally& tally) {
  std::string text = fmt::format(
      "{} decisions on equal arms: {} PASS, {} INCONCLUSIVE, {} INVALID, {} FAIL, {} INFRASTRUCTURE\n",
      tally.Decisions(), tally.pass, tally.inconclusive, tally.invalid, tally.fail, tally.infrastructure);
  for (const std::string& alarm : tally.false_alarms) text += "  " + alarm + "\n";
  return text;
}

int EqualArmsExitCode(const EqualArmsTally& tally) {
  const int64_t allowed = std::max<int64_t>(1, tally.Decisions() / 200);
  if (tally.fail > allowed) return kExitFail;
  return tally.pass + tally.inconclusive > 0 ? kExitPass : kExitInvalid;
}

namespace {

// What a store of main would hold: the newest passing runs; and where as many in a row as a baseline needs
// were at another pace of the machine, these in place of all before, as if somebody had accepted it then.
class StandIn {
 public:
  explicit StandIn(gate::CellPolicy& policy) : policy_(policy) {}

  void Add(const record::RunRecord& record, const record::Verdict& verdict) {
    if (SaysOnlyThatThePaceDiffers(verdict)) {
      at_another_pace_.push_back(record);
      if (std::ssize(at_another_pace_) < policy_.policy.performance.min_baseline_runs) return;
      policy_.baseline.cells.clear();
      policy_.baseline.dated.clear();
      for (const record::RunRecord& run : at_another_pace_) Keep(run);
      at_another_pace_.clear();
      return;
    }
    at_another_pace_.clear();
    if (verdict.exit_code == kExitPass && MayBecomeBaseline({policy_}, verdict)) Keep(record);
  }

 private:
  void Keep(const record::RunRecord& record) {
    auto& cells = policy_.baseline.cells;  // newest first, as a store gives them
    auto& dated = policy_.baseline.dated;
    cells.insert(cells.begin(), record.cells.front());
    if (std::ssize(cells) > policy_.policy.baseline.runs) cells.pop_back();
    dated.insert(dated.begin(), SpeedsOf(record.commit, record.created, record.cells.front()));
    if (std::ssize(dated) > kRunsForNoise) dated.pop_back();
  }

  gate::CellPolicy& policy_;
  std::vector<record::RunRecord> at_another_pace_;
};

}  // namespace

Result<int> EqualArms(const SelftestOptions& options) {
  const std::atomic<bool>& interrupted = CatchInterrupts();
  ASSIGN_OR_RETURN(const Cell cell, BenchCell(options, "assay-engine", "configs/selftest/equal-arms.yaml"));
  const Path folder = options.out.empty() ? Path("out") / ("equal-arms-" + NewRunId()) : options.out;
  gate::CellPolicy policy{cell.key, cell.config.gate, {"earlier runs of this selftest", {}}};
  policy.policy.allow_missing_baseline = true;
  const int64_t first = policy.policy.performance.min_baseline_runs;
  const TimePoint start = RealClock().Now();

  StandIn stored(policy);
  EqualArmsTally tally;
  for (int64_t run = 0; run < first + options.equal_arms && !interrupted; ++run) {
    const Path here = folder / fmt::format("{:03}", run);
    ASSIGN_OR_RETURN(const record::RunRecord record,
                     Measure(cell, policy, here, options.command, interrupted));
    if (interrupted) break;
    ASSIGN_OR_RETURN(const record::Verdict verdict, JudgeAndReport(record, policy, here));
    if (run >= first) Add(verdict, tally);
    spdlog::info("{} of {} decisions, {:.0f} s: {}", std::max<int64_t>(0, run + 1 - first),
                 options.equal_arms, Seconds(RealClock().Now() - start), verdict.headline);
    stored.Add(record, verdict);
  }
  fmt::print("{}", EqualArmsText(tally));
  return interrupted ? static_cast<int>(kExitInterrupted) : EqualArmsExitCode(tally);
}

}  // namespace assay::runner
