#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/accuracy.h"
#include "gate/check.h"
#include "gate/foresight.h"
#include "gate/text.h"
#include "record/distributions.h"
#include "record/score.h"

namespace assay::gate {
namespace {

using record::AccuracyRecord;
using record::CellRecord;
using record::Check;
using record::Outcome;

Outcome OutcomeOf(Foreseen foreseen) {
  switch (foreseen) {
    case Foreseen::kPass:
      return Outcome::kPass;
    case Foreseen::kFail:
      return Outcome::kFail;
    case Foreseen::kOpen:
      break;
  }
  return Outcome::kInconclusive;
}

std::string Part(const AccuracyRecord& accuracy) {
  return fmt::format("{} of {} samples in random order", accuracy.samples.size(),
                     accuracy.questions * accuracy.repeats);
}

Check StoppedThreshold(const CellRecord& cell, const Foresight& foresight, const ThresholdPolicy& policy) {
  const AccuracyRecord& part = *cell.accuracy;
  const record::AccuracyCounts counts = Count(part);
  const auto k = static_cast<double>(counts.correct), n = static_cast<double>(counts.samples);
  const double limit = ThresholdLimit(policy);
  const record::Interval interval = record::WilsonInterval(k, n, 0.95);
  Check check = MakeCheck(cell, "accuracy", part.eval + "_score", "threshold");
  check.value = k / n;
  check.samples = counts.samples;
  check.reference = limit;
  check.change = *check.value - limit;
  check.ci_low = interval.low - limit;
  check.ci_high = interval.high - limit;
  check.outcome = OutcomeOf(foresight.Threshold(part, policy));
  const char* what = check.outcome == Outcome::kPass   ? "the score of all would pass"
                     : check.outcome == Outcome::kFail ? "the score of all would fail"
                                                       : "what the score of all would be is open";
  check.reason = fmt::format("score {} after {}: {} (limit {:.4f}; otherwise in at most {:g} % of orders)",
                             Score(counts.correct, counts.samples), Part(part), what, limit,
                             part.sequential->error * 100);
  return check;
}

Check StoppedPaired(const CellRecord& cell, const Foresight& foresight, const AccuracyRecord& baseline,
                    const AccuracyPolicy& policy) {
  const AccuracyRecord& part = *cell.accuracy;
  const PartDifference seen = DifferenceOfPart(part, baseline, part.questions * part.repeats);
  const record::AccuracyCounts now = Count(part), before = Count(baseline);
  const double half = record::NormalQuantile(0.975) * seen.deviation /
                      std::sqrt(static_cast<double>(std::max<int64_t>(seen.samples, 1)));
  Check check = MakeCheck(cell, "accuracy", part.eval + "_score", "paired");
  check.value = static_cast<double>(now.correct) / static_cast<double>(now.samples);
  check.samples = now.samples;
  check.reference = static_cast<double>(before.correct) / static_cast<double>(before.samples);
  check.baseline_samples = before.samples;
  check.change = seen.mean;
  check.ci_low = seen.mean - half;
  check.ci_high = seen.mean + half;
  check.margin = policy.margin;
  check.outcome = OutcomeOf(foresight.Paired(part, baseline, policy));
  const char* what = check.outcome == Outcome::kPass   ? "all samples would exclude"
                     : check.outcome == Outcome::kFail ? "all samples would show"
                                                       : "it is open whether all samples exclude";
  check.reason = fmt::format(
      "{} lost and {} won after {} ({}): {} a loss{} (otherwise in at most {:g} % of orders)", seen.lost,
      seen.won, Part(part), Points(seen.mean), what,
      check.outcome == Outcome::kFail ? "" : fmt::format(" of {:.1f} points", policy.margin * 100),
      part.sequential->error * 100);
  return check;
}

}  // namespace

std::vector<Check> JudgeStopped(const CellRecord& cell, const CellPolicy& policy,
                                const CellRecord* baseline) {
  const AccuracyRecord& part = *cell.accuracy;
  const Foresight foresight(part.questions * part.repeats, *part.sequential);
  std::vector<Check> checks;
  if (policy.policy.threshold) checks.push_back(StoppedThreshold(cell, foresight, *policy.policy.threshold));
  if (baseline != nullptr)
    checks.push_back(StoppedPaired(cell, foresight, *baseline->accuracy, policy.policy.accuracy));
  if (checks.empty()) {
    Check check = MakeCheck(cell, "validity", "V6_early_end." + part.eval, "validity");
    check.outcome = Outcome::kInvalid;
    check.reason = "asking ended early, and there is neither a threshold nor a baseline that says why";
    checks.push_back(check);
  }
  // One rule that fails ends the asking before the others are settled, and they decide nothing then.
  bool fails = false;
  for (const Check& check : checks) fails |= check.outcome == Outcome::kFail;
  for (Check& check : checks) check.primary = !fails || check.outcome != Outcome::kInconclusive;
  return checks;
}

}  // namespace assay::gate
