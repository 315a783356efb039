#include "record/unpaired.h"

#include <fmt/format.h>

#include "gate/accuracy.h"
#include "gate/check.h"
#include "gate/text.h"
#include "record/distributions.h"

namespace assay::gate {
namespace {

constexpr double kAlpha = 0.05, kPower = 0.8;

}  // namespace

record::Check JudgeUnpaired(const record::CellRecord& cell, const record::CellRecord& baseline,
                            const AccuracyPolicy& policy) {
  const record::AccuracyCounts now = Count(*cell.accuracy), before = Count(*baseline.accuracy);
  const record::TwoScores scores{now.correct, now.samples, before.correct, before.samples};
  const record::UnpairedDifference d = CompareScores(scores);
  record::Check check = MakeCheck(cell, "accuracy", cell.accuracy->eval + "_score", "unpaired");
  check.value = static_cast<double>(now.correct) / static_cast<double>(now.samples);
  check.reference = static_cast<double>(before.correct) / static_cast<double>(before.samples);
  check.samples = now.samples;
  check.baseline_samples = before.samples;
  check.margin = policy.margin;
  check.change = d.mean;
  check.ci_low = d.mean - record::NormalQuantile(0.975) * d.standard_error;
  check.ci_high = d.mean + record::NormalQuantile(0.975) * d.standard_error;
  check.mde = UnpairedMde(scores, kAlpha, kPower);
  check.p_value = d.p_loss;
  check.improved = *check.ci_low > 0;

  const bool significant = d.p_two_sided < kAlpha;
  const bool excluded = d.mean - record::NormalQuantile(1 - kAlpha) * d.standard_error > -policy.margin;
  const bool shown = d.p_loss < kAlpha && d.mean <= -policy.min_effect;
  check.outcome = excluded ? record::Outcome::kPass
                  : shown  ? record::Outcome::kFail
                           : record::Outcome::kInconclusive;
  check.reason = fmt::format(
      "{} and {} without their questions: {} (95 % {:+.1f} to {:+.1f}, p {:.2f}) {}; a loss of {:.1f} points "
      "is "
      "{}, and one of {:.1f} would have been found four times in five",
      Score(before.correct, before.samples), Score(now.correct, now.samples), Points(d.mean),
      *check.ci_low * 100, *check.ci_high * 100, d.p_two_sided,
      significant ? "is significant" : "is not significant", policy.margin * 100,
      excluded ? "excluded" : "not excluded", *check.mde * 100);
  return check;
}

}  // namespace assay::gate
