#include <fmt/format.h>

#include "gate/accuracy.h"
#include "gate/check.h"
#include "gate/text.h"
#include "record/score.h"

namespace assay::gate {
namespace {

using record::CellRecord;
using record::Check;
using record::Outcome;

constexpr double kAlpha = 0.05, kPower = 0.8;

double Limit(const ThresholdPolicy& policy) {
  return policy.kind == ToleranceKind::kAbsolute ? policy.threshold - policy.tolerance
                                                 : policy.threshold * (1 - policy.tolerance);
}

// 0.8 - 0.1 is 0.7000000000000001 in binary, and a score of 0.7 reaches it.
bool Reaches(double score, double limit) {
  constexpr double kRounding = 1e-9;
  return score >= limit - kRounding;
}

std::string Rule(const ThresholdPolicy& policy) {
  if (policy.kind == ToleranceKind::kAbsolute) {
    return fmt::format("limit {:.4f} = {} - {}", Limit(policy), policy.threshold, policy.tolerance);
  }
  return fmt::format("limit {:.4f} = {} x (1 - {})", Limit(policy), policy.threshold, policy.tolerance);
}

struct Judgement {
  bool pass;
  std::string why;
};

Judgement Decide(double score, const record::Interval& one_sided, const ThresholdPolicy& policy) {
  const double limit = Limit(policy);
  switch (policy.proof) {
    case ThresholdProof::kTolerance:
      return Reaches(score, limit) ? Judgement{true, "reaches the limit"}
                                   : Judgement{false, "is below the limit"};
    case ThresholdProof::kProveBad:
      return Reaches(one_sided.high, limit)
                 ? Judgement{true, "is not shown to be below the limit"}
                 : Judgement{false,
                             fmt::format("is below the limit: upper 95 % bound {:.4f}", one_sided.high)};
    case ThresholdProof::kProveGood:
      return Reaches(one_sided.low, limit)
                 ? Judgement{true, fmt::format("is shown to reach the limit: lower 95 % bound {:.4f}",
                                               one_sided.low)}
                 : Judgement{false, fmt::format("is not shown to reach the limit: lower 95 % bound {:.4f}",
                                                one_sided.low)};
  }
  return {false, "has an unknown rule"};
}

Check ScoreCheck(const CellRecord& cell, const char* rule, const record::AccuracyCounts& counts) {
  Check check = MakeCheck(cell, "accuracy", cell.accuracy->eval + "_score", rule);
  check.value = static_cast<double>(counts.correct) / static_cast<double>(counts.samples);
  check.samples = counts.samples;
  return check;
}

Check BrokenLine(const CellRecord& cell, const record::AccuracyCounts& counts, double broken_below) {
  Check check = ScoreCheck(cell, "broken_line", counts);
  check.reference = broken_below;
  const bool broken = *check.value < broken_below;
  check.outcome = broken ? Outcome::kFail : Outcome::kPass;
  check.reason = broken ? fmt::format("score {} is below {}: the model guesses (one in four is chance)",
                                      Score(counts.correct, counts.samples), broken_below)
                        : fmt::format("score {} is above {}, so the model does not guess",
                                      Score(counts.correct, counts.samples), broken_below);
  return check;
}

}  // namespace

double ThresholdLimit(const ThresholdPolicy& policy) {
  return Limit(policy);
}

bool ReachesThreshold(int64_t k, int64_t n, const ThresholdPolicy& policy) {
  const auto right = static_cast<double>(k), all = static_cast<double>(n);
  return Decide(right / all, record::WilsonInterval(right, all, 0.90), policy).pass;
}

std::vector<Check> JudgeThreshold(const CellRecord& cell, const ThresholdPolicy& policy) {
  const record::AccuracyCounts counts = Count(*cell.accuracy);
  const auto k = static_cast<double>(counts.correct), n = static_cast<double>(counts.samples);

  Check check = ScoreCheck(cell, "threshold", counts);
  const double limit = Limit(policy);
  const record::Interval interval = record::WilsonInterval(k, n, 0.95);
  const Judgement judgement = Decide(*check.value, record::WilsonInterval(k, n, 0.90), policy);
  check.reference = limit;
  check.change = *check.value - limit;
  check.ci_low = interval.low - limit;
  check.ci_high = interval.high - limit;
  check.mde = record::ThresholdMde(*check.value, n, kAlpha, kPower);
  check.outcome = judgement.pass ? Outcome::kPass : Outcome::kFail;
  check.reason =
      fmt::format("score {} {} ({}; Wilson 95 % {:.4f} to {:.4f})", Score(counts.correct, counts.samples),
                  judgement.why, Rule(policy), interval.low, interval.high);
  if (counts.unparsed + counts.truncated + counts.failed > 0) {
    check.details.push_back(
        fmt::format("{} answers without a readable letter, {} cut at the token limit, {} failed requests",
                    counts.unparsed, counts.truncated, counts.failed));
  }
  return {BrokenLine(cell, counts, policy.broken_below), check};
}

}  // namespace assay::gate
