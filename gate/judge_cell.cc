#include "gate/judge_cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "gate/accuracy.h"
#include "gate/check.h"
#include "gate/comparable.h"
#include "gate/equal_code.h"
#include "gate/fold.h"
#include "gate/foresight.h"
#include "gate/performance.h"
#include "gate/reproducibility.h"
#include "gate/server.h"
#include "gate/validity_accuracy.h"
#include "gate/validity_serving.h"
#include "gate/workaround.h"

namespace assay::gate {
namespace {

using record::CellRecord;
using record::Check;
using record::Outcome;
using record::ServingRecord;

class CellJudge {
 public:
  CellJudge(const CellRecord& cell, const CellPolicy& policy, std::string_view now)
      : cell_(cell), policy_(policy), equal_runs_(FindEqualRuns(cell, policy, now)) {}

  CellVerdict Judge() && {
    if (std::optional<Check> failure = JudgeServer(cell_)) {
      verdict_.checks.push_back(std::move(*failure));
      return std::move(verdict_);
    }
    if (!cell_.accuracy && cell_.serving.empty() && !cell_.reproducibility) {
      Check check = MakeCheck(cell_, "validity", "measured", "validity");
      check.outcome = Outcome::kInvalid;
      check.reason = "nothing was measured in this cell";
      Add({check});
    }
    if (cell_.accuracy) JudgeAccuracy();
    JudgeSpeed();
    if (std::optional<Check> same = JudgeReproducibility(cell_)) Add({std::move(*same)});
    if (compared_) Note("baseline", "compared with " + policy_.baseline.source);
    return std::move(verdict_);
  }

 private:
  void Add(std::vector<Check> checks) {
    std::move(checks.begin(), checks.end(), std::back_inserter(verdict_.checks));
  }
  void Note(std::string kind, std::string text) {
    verdict_.notes.push_back({cell_.key, std::move(kind), std::move(text)});
  }

  void JudgeAccuracy() {
    std::vector<Check> validity = AccuracyValidity(cell_, policy_.policy.accuracy);
    const bool usable = !Has(validity, Outcome::kInvalid);
    Add(std::move(validity));
    if (!usable) return;
    const bool stopped = cell_.accuracy->sequential && cell_.accuracy->sequential->stopped;
    if (!stopped && policy_.policy.threshold) Add(JudgeThreshold(cell_, *policy_.policy.threshold));
    const CellRecord* baseline = nullptr;
    if (policy_.policy.accuracy.paired && policy_.baseline.requested) baseline = ChooseAccuracyBaseline();
    if (stopped) {
      Add(JudgeStopped(cell_, policy_, baseline));
    } else if (baseline != nullptr) {
      const bool stated = cell_.accuracy->stated || baseline->accuracy->stated;
      Check score = stated ? JudgeUnpaired(cell_, *baseline, policy_.policy.accuracy)
                           : JudgePaired(cell_, *baseline, policy_.policy.accuracy);
      // A score that fails says itself how many answers were cut.
      const bool told = score.outcome == Outcome::kFail;
      Add({std::move(score)});
      if (!stated && !told) Add(JudgeCutAnswers(cell_, *baseline, policy_.policy.accuracy));
      if (stated) return;
      if (auto same = JudgeSameAnswers(cell_, *baseline, policy_.policy.accuracy)) Add({std::move(*same)});
    }
  }

  // Null after a check that says what is missing.
  const CellRecord* ChooseAccuracyBaseline() {
    const AccuracyBaseline baseline = FindAccuracyBaseline(cell_, policy_);
    if (baseline.cell) {
      verdict_.environment = Differences(cell_.fingerprint, baseline.cell->fingerprint);
      compared_ = true;
      Add({SameQuestions(cell_, baseline)});
      return baseline.cell;
    }
    // Where runs end as soon as they are certain, none of them has all answers: the threshold decides.
    if (baseline.obstacles.empty() && baseline.ended_early && policy_.policy.threshold) {
      Note("baseline", "earlier runs ended early, so there are no answers to compare question by question");
      return nullptr;
    }
    if (baseline.obstacles.empty()) {
      MissingBaseline("accuracy", "there is no accuracy baseline yet", {});
      return nullptr;
    }
    Check check = MakeCheck(cell_, "validity", "V9_same_questions", "validity");
    check.outcome = Outcome::kInvalid;
    check.reason = "the baseline cannot be compared question by question; record a new one on main";
    check.details = baseline.obstacles;
    Add({check});
    return nullptr;
  }

  void JudgeSpeed() {
    const bool wrong_answers = HasWrongAnswers(verdict_.checks);
    const PerformanceBaseline baseline = FindPerformanceBaseline(cell_, policy_);
    if (!baseline.cells.empty()) {
      verdict_.environment = Differences(cell_.fingerprint, baseline.cells.front()->fingerprint);
      compared_ = true;
    }
    const bool imported = std::any_of(cell_.serving.begin(), cell_.serving.end(),
                                      [](const ServingRecord& s) { return !s.source.empty(); });
    if (!baseline.cells.empty()) {
      Add({imported ? NotPossible(MakeCheck(cell_, "validity", "V8_same_machine", "validity"),
                                  "imported results do not say which machine, flags and model they are of")
                    : SameMachine(cell_, baseline, policy_)});
    }
    std::vector<std::string> without_baseline;
    for (const ServingRecord& serving : cell_.serving) {
      SpeedBaseline earlier{SameLoad(serving, baseline.cells), {}};
      for (const EqualRuns& runs : equal_runs_) earlier.equal_code.push_back(SameLoad(serving, runs));
      if (earlier.runs.empty()) without_baseline.push_back(serving.name);
      JudgeBenchmark(serving, earlier, wrong_answers);
    }
    if (policy_.baseline.requested && !without_baseline.empty()) {
      MissingBaseline("serving",
                      "this machine has no performance baseline yet for " + Join(without_baseline, ", "),
                      baseline.obstacles);
    }
  }

  static Benchmarks SameLoad(const ServingRecord& serving, const std::vector<const CellRecord*>& cells) {
    Benchmarks runs;
    for (const CellRecord* cell : cells) {
      if (const ServingRecord* same = FindSameLoad(serving, *cell)) runs.push_back(same);
    }
    return runs;
  }

  void JudgeBenchmark(const ServingRecord& serving, const SpeedBaseline& earlier, bool wrong_answers) {
    const Benchmarks& runs = earlier.runs;
    ServingValidity own = JudgeServingValidity(cell_, serving);
    ServingValidity load;
    if (own.usable && policy_.baseline.requested && !runs.empty()) load = JudgeSameLoad(cell_, serving, runs);
    std::optional<Check> pace;
    if (own.usable && policy_.baseline.requested && cell_.fingerprint.hardware == "cpu")
      pace = JudgeSamePace(cell_, serving, runs, policy_.policy.performance.margin,
                           policy_.policy.performance.min_baseline_runs);
    std::optional<Check> clocks;
    if (own.usable && policy_.baseline.requested) clocks = JudgeGpuClocks(cell_, serving, runs);
    const auto holds = [](const std::optional<Check>& check) {
      return !check || check->outcome != Outcome::kInvalid;
    };
    const bool usable = own.usable && load.usable && holds(pace) && holds(clocks);
    SpeedScope scope = own.throughput && load.throughput ? SpeedScope::kAll : SpeedScope::kLatencyOnly;
    std::string why_not = "the answers did not have the length that throughput needs";
    const auto nothing = [&](std::string why) {
      scope = SpeedScope::kNothing;
      why_not = std::move(why);
    };
    if (!policy_.baseline.requested) nothing("no baseline was asked for");
    if (policy_.baseline.requested && runs.empty()) nothing("no baseline yet");
    if (!usable) nothing("the measurement is invalid");
    if (wrong_answers)
      nothing("the answers fail the accuracy gate, and the speed of wrong answers is no speed");
    Add(std::move(own.checks));
    Add(std::move(load.checks));
    if (pace) Add({std::move(*pace)});
    if (clocks) Add({std::move(*clocks)});
    std::vector<Check> speeds =
        JudgePerformance(cell_, serving, earlier, policy_.policy.performance, scope, why_not);
    NoteMarginsBelowNoise(speeds);
    Add(std::move(speeds));
  }

  // A margin that equal code exceeds is no gate: it passes what it cannot see, or fails by chance.
  void NoteMarginsBelowNoise(const std::vector<Check>& speeds) {
    std::vector<std::string> floors;
    for (const Check& check : speeds) {
      if (check.primary && check.noise_floor && *check.noise_floor > *check.margin)
        floors.push_back(fmt::format("{} {:.1f} %", check.metric, *check.noise_floor * 100));
    }
    if (floors.empty()) return;
    Note("noise_floor",
         fmt::format("{}: this gate cannot see a loss of {:.0f} %: runs of equal code on this machine differ "
                     "by up to {}; a quieter machine or a wider margin helps",
                     speeds.front().group.substr(8), policy_.policy.performance.margin * 100,
                     Join(floors, ", ")));
  }

  // Fails closed unless the config or the command line says otherwise, and then the report says so.
  void MissingBaseline(const std::string& group, const std::string& what,
                       const std::vector<std::string>& obstacles) {
    const std::string nearest =
        obstacles.empty() ? "" : " (the nearest earlier run differs in " + Join(obstacles, "; ") + ")";
    if (policy_.policy.baseline.first_run == FirstRun::kRecord && !policy_.baseline.host_has_history) {
      Note("first_run", what + nearest + "; this run is recorded as its first");
      return;
    }
    if (policy_.policy.allow_missing_baseline) {
      Note("baseline", what + nearest + "; allowed by --allow-missing-baseline");
      return;
    }
    verdict_.missing_baseline = true;
    Check check = MakeCheck(cell_, group, "baseline", "baseline");
    check.outcome = Outcome::kInvalid;
    check.reason =
        what + nearest +
        "; run main here first, set gate.baseline.first_run to record, or pass --allow-missing-baseline";
    Add({check});
  }

  const CellRecord& cell_;
  const CellPolicy& policy_;
  const std::vector<EqualRuns> equal_runs_;
  CellVerdict verdict_;
  bool compared_ = false;
};

}  // namespace

CellVerdict JudgeCell(const CellRecord& cell, const CellPolicy& policy, std::string_view now) {
  CellVerdict verdict = CellJudge(cell, policy, now).Judge();
  for (record::VerdictNote& note : JudgeWorkarounds(cell, policy.policy.workarounds))
    verdict.notes.push_back(std::move(note));
  for (const std::string& regression : policy.baseline.regressions)
    verdict.notes.push_back({cell.key, "regression", regression});
  return verdict;
}

}  // namespace assay::gate
