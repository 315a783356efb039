#include "gate/performance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/check.h"
#include "gate/equal_code.h"
#include "gate/family.h"
#include "gate/load.h"
#include "gate/speed_metric.h"
#include "gate/text.h"
#include "record/noise_floor.h"
#include "record/prediction.h"
#include "record/statistics.h"

namespace assay::gate {
namespace {

using record::CellRecord;
using record::Check;
using record::Direction;
using record::Metric;
using record::Outcome;
using record::ServingRecord;

std::vector<double> ValuesOf(const std::string& name, const Benchmarks& runs) {
  std::vector<double> values;
  for (const ServingRecord* run : runs) {
    const Metric* metric = Find(run->metrics, name);
    if (metric && metric->value) values.push_back(*metric->value);
  }
  return values;
}

void SetInterval(const record::RunChange& change, Check& check) {
  const double a = AsMeasured(change.low, check.direction), b = AsMeasured(change.high, check.direction);
  check.ci_low = std::min(a, b);
  check.ci_high = std::max(a, b);
}

std::string TooFew(size_t runs, int needed, const std::string& measured) {
  return fmt::format(
      "{}: n too small to decide: {} baseline run{}; at least {} needed to tell a change from noise",
      measured, runs, runs == 1 ? "" : "s", needed);
}

// What this metric differs by between runs of equal code, as a log ratio; nothing where too few were
// measured.
std::optional<record::NoiseFloor> FloorOf(const std::string& name, const SpeedBaseline& baseline) {
  std::vector<std::vector<double>> values;
  for (const Benchmarks& runs : baseline.equal_code) {
    values.push_back(ValuesOf(name, runs));
    std::erase_if(values.back(), [](double value) { return value <= 0; });
  }
  const std::vector<double> ratios = record::EqualCodeLogRatios(values);
  if (ratios.size() < kLeastPairs) return std::nullopt;
  return record::NoiseFloorOf(ratios);
}

std::string Undecided(const record::RunChange& change, double margin, const Check& check) {
  if (change.low > std::log1p(margin)) {
    return fmt::format("worse than the margin of {:.0f} %, but runs of equal code differ by up to {:.1f} %",
                       margin * 100, *check.noise_floor * 100);
  }
  return fmt::format("a loss of {:.0f} % is neither shown nor excluded; single runs vary by {:.1f} %{}",
                     margin * 100, std::expm1(change.noise) * 100,
                     change.noise > std::log1p(margin)
                         ? ", more than the margin: this gate cannot see such a loss here"
                         : "");
}

void DecideFromInterval(const record::RunChange& change, double margin, double min_change, Check& check) {
  const double limit = std::log1p(margin);
  const double loss = LossLimit(check);
  const double absolute = std::abs(*check.value - *check.reference);
  check.p_value = PValueAbove(change, loss);
  const std::string measured = fmt::format("{} (95 % {} to {})", Percent(*check.change),
                                           Percent(*check.ci_low), Percent(*check.ci_high));
  if (change.low > limit && absolute < min_change) {
    check.reason = fmt::format("{}: worse, but by {:.3g} {}, below the least change that counts ({:.3g})",
                               measured, absolute, check.unit, min_change);
  } else if (change.low > loss) {
    check.outcome = Outcome::kFail;
    check.reason = fmt::format("{}: worse by more than {}", measured, LimitInWords(check));
  } else if (change.high < limit) {
    check.improved = change.high < 0 && change.mean < -limit;
    check.reason = fmt::format("{}: {}", measured,
                               check.improved ? "better by more than the margin"
                                              : fmt::format("a loss of {:.0f} % is excluded", margin * 100));
  } else {
    check.outcome = Outcome::kInconclusive;
    check.reason = fmt::format("{}: {}", measured, Undecided(change, margin, check));
  }
}

// Two figures without their spread, as published tables have them: a change within the margin is accepted for
// what it is, and a larger one is a candidate that nothing here can confirm.
void DecideFromFigures(double margin, Check& check) {
  const double worse = check.direction == Direction::kHigherIsBetter ? -*check.change : *check.change;
  const std::string measured = fmt::format("{}, single figures without an interval", Percent(*check.change));
  check.improved = worse < -margin;
  check.outcome = worse > margin ? Outcome::kInconclusive : Outcome::kPass;
  check.reason = worse > margin ? fmt::format(
                                      "{}: worse by more than the margin of {:.0f} %; a candidate for a "
                                      "regression, to be confirmed by repeated, interleaved runs",
                                      measured, margin * 100)
                 : check.improved ? fmt::format("{}: better by more than the margin", measured)
                                  : fmt::format("{}: within the margin of {:.0f} %", measured, margin * 100);
}

void CompareWithRuns(const std::vector<double>& values, const PerformancePolicy& policy, bool figures,
                     Check& check) {
  check.baseline_samples = static_cast<int64_t>(values.size());
  if (values.empty()) {
    check.outcome = Outcome::kInconclusive;
    check.reason = "no baseline run has this metric";
    return;
  }
  const bool positive =
      *check.value > 0 && std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
  if (!positive) {
    check.reference = record::Mean(values);
    check.outcome = check.primary ? Outcome::kInvalid : Outcome::kInconclusive;
    check.reason = "not a speed: a ratio needs values above zero";
    return;
  }
  check.reference = GeometricMean(values);
  check.change = *check.value / *check.reference - 1;
  if (values.size() < 2 && figures) return DecideFromFigures(policy.margin, check);
  if (values.size() < 2) {
    check.outcome = Outcome::kInconclusive;
    check.reason = TooFew(values.size(), std::max(2, policy.min_baseline_runs), Percent(*check.change));
    return;
  }
  const record::RunChange change =
      record::ChangeAgainstRuns(*check.value, values, check.direction == Direction::kHigherIsBetter);
  check.change = AsMeasured(change.mean, check.direction);
  SetInterval(change, check);
  if (static_cast<int>(values.size()) < policy.min_baseline_runs) {
    check.outcome = Outcome::kInconclusive;
    check.mde = SmallestDetectable(check, 1);
    check.reason = TooFew(values.size(), policy.min_baseline_runs,
                          fmt::format("{} (95 % {} to {})", Percent(*check.change), Percent(*check.ci_low),
                                      Percent(*check.ci_high)));
    return;
  }
  const auto min_change = policy.min_change.find(check.metric);
  DecideFromInterval(change, policy.margin, min_change == policy.min_change.end() ? 0 : min_change->second,
                     check);
}

Check JudgeMetric(const CellRecord& cell, const ServingRecord& serving, const Metric& metric,
                  const SpeedBaseline& baseline, const PerformancePolicy& policy, SpeedScope scope,
                  const std::string& why_not) {
  Check check = MakeCheck(cell, "serving:" + serving.name, metric.name, "performance");
  check.unit = metric.unit;
  check.direction = metric.direction;
  check.value = metric.value;
  check.samples = metric.samples;
  check.primary = IsPrimary(metric.name, policy);
  if (!IsInScope(
          scope,
          metric.name)) {  // what stands in the way decides by a check of its own; this row only says so
    check.outcome = Outcome::kInconclusive;
    if (check.primary) check.rule = "not_judged";
    check.primary = false;
    check.reason = "not judged: " + why_not;
    return check;
  }
  if (!metric.value) {
    check.outcome = check.primary ? Outcome::kInvalid : Outcome::kInconclusive;
    check.reason = "not measured";
    return check;
  }
  check.margin = policy.margin;
  if (const auto floor = FloorOf(metric.name, baseline)) check.noise_floor = std::expm1(floor->floor);
  CompareWithRuns(ValuesOf(metric.name, baseline.runs), policy, serving.stated.has_value(), check);
  // Gaps of one request are not independent: what counts is requests, however many samples they gave.
  const int64_t requests = std::min(metric.samples, Completed(serving));
  const std::optional<TailBound> bound = BoundOf(metric.name);
  if (bound && requests < bound->requests) {
    check.primary = false;
    check.reason += fmt::format("; an observation: {} requests cannot bound a {}, {} can", requests,
                                bound->percentile, bound->requests);
  }
  return check;
}

}  // namespace

std::vector<Check> JudgePerformance(const CellRecord& cell, const ServingRecord& serving,
                                    const SpeedBaseline& baseline, const PerformancePolicy& policy,
                                    SpeedScope scope, const std::string& why_not) {
  std::vector<Check> checks;
  for (const Metric& metric : serving.metrics) {
    checks.push_back(JudgeMetric(cell, serving, metric, baseline, policy, scope, why_not));
  }
  for (const std::string& name : policy.primary) {
    if (Find(serving.metrics, name)) continue;
    Check check = MakeCheck(cell, "serving:" + serving.name, name, "performance");
    check.outcome = Outcome::kInvalid;
    check.reason = "a primary metric of the config that this benchmark does not report";
    checks.push_back(check);
  }
  return checks;
}

}  // namespace assay::gate
