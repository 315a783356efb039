#include "gate/ab/pair_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gate/check.h"
#include "gate/load.h"
#include "gate/speed_metric.h"
#include "gate/text.h"
#include "record/distributions.h"
#include "record/multiplicity.h"
#include "record/pairs.h"
#include "record/rank_tests.h"

namespace assay::gate {
namespace {

using record::Check;
using record::Direction;
using record::Metric;
using record::Outcome;
using record::PairChange;
using record::ServingRecord;

// A metric of one benchmark, as far as it can be judged.
struct Row {
  Check check;
  std::vector<double> ratios;
  std::optional<PairChange> change;  // none: the check says already what there is to say
};

std::vector<double> Values(const PairedBenchmark& benchmark, const std::string& metric,
                           const ServingRecord* ServingPair::*arm) {
  std::vector<double> values;
  for (const ServingPair& pair : benchmark.pairs) {
    const Metric* found = Find((pair.*arm)->metrics, metric);
    if (found != nullptr && found->value) values.push_back(*found->value);
  }
  return values;
}

bool AllPositive(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return v > 0; });
}

// Says why a row cannot be judged. For a primary metric that is a fault of the measurement.
Row Unusable(Row row, std::string reason) {
  row.check.outcome = row.check.primary ? Outcome::kInvalid : Outcome::kInconclusive;
  row.check.reason = std::move(reason);
  return row;
}

std::string PairsText(int64_t n) {
  return fmt::format("{} pair{}", n, n == 1 ? "" : "s");
}

std::string EachPair(const std::vector<double>& ratios, Direction direction) {
  std::string text;
  for (const double worse : ratios)
    text += (text.empty() ? "" : ", ") + Percent(AsMeasured(worse, direction));
  return text;
}

// What does not lean on the normal law, beside what decides.
void AddRobustFigures(const Row& row, Check& check) {
  const record::SignFlip flip = record::SignFlipTest(row.ratios);
  check.details.push_back("change in each pair: " + EachPair(row.ratios, check.direction));
  check.details.push_back(fmt::format(
      "Hodges-Lehmann {}; exact sign-flip p {:.4f} for any change, two-sided",
      Percent(AsMeasured(record::HodgesLehmannCentre(row.ratios), check.direction)), flip.p_two_sided));
}

Row MakeRow(const record::CellRecord& cell, const PairedBenchmark& benchmark, const std::string& metric,
            const PerformancePolicy& policy) {
  Row row;
  Check& check = row.check;
  check = MakeCheck(cell, "serving:" + benchmark.name, metric, "performance");
  check.primary = IsPrimary(metric, policy);
  const Metric* found = Find(benchmark.pairs.front().head->metrics, metric);
  if (found == nullptr)
    return Unusable(std::move(row), "a primary metric of the config that this benchmark does not report");
  check.unit = found->unit;
  check.direction = found->direction;
  const auto n = static_cast<int64_t>(benchmark.pairs.size());
  check.samples = check.baseline_samples = n;
  const std::vector<double> base = Values(benchmark, metric, &ServingPair::base),
                            head = Values(benchmark, metric, &ServingPair::head);
  if (!IsInScope(benchmark.scope, metric)) {
    check.outcome = Outcome::kInconclusive;
    if (check.primary) check.rule = "not_judged";
    check.primary = false;
    check.reason = "not judged: " + benchmark.why_not;
    return row;
  }
  check.margin = policy.margin;
  if (base.size() != benchmark.pairs.size() || head.size() != benchmark.pairs.size())
    return Unusable(std::move(row), "not measured in every run");
  if (!AllPositive(base) || !AllPositive(head))
    return Unusable(std::move(row), "not a speed: a ratio needs values above zero");
  check.value = GeometricMean(head);
  check.reference = GeometricMean(base);
  row.ratios = record::LogRatios(base, head, check.direction == Direction::kHigherIsBetter);
  check.change = *check.value / *check.reference - 1;
  if (n < kFewestPairs) {
    check.outcome = Outcome::kInconclusive;
    check.reason = fmt::format("{} after {}: n too small to decide, {} are needed", Percent(*check.change),
                               PairsText(n), kFewestPairs);
    return row;
  }
  row.change = record::ChangeOverPairs(row.ratios);
  return row;
}

// A high percentile rests on the requests of one run.
void DemoteTail(const PairedBenchmark& benchmark, Check& check) {
  const std::optional<TailBound> bound = BoundOf(check.metric);
  if (!bound) return;
  int64_t requests = bound->requests;
  for (const ServingPair& pair : benchmark.pairs)
    requests = std::min({requests, Completed(*pair.base), Completed(*pair.head)});
  if (requests >= bound->requests) return;
  check.primary = false;
  check.reason += fmt::format("{}an observation: {} requests a run cannot bound a {}, {} can",
                              check.reason.empty() ? "" : "; ", requests, bound->percentile, bound->requests);
}

void SetInterval(const PairChange& change, double half, Check& check) {
  if (!std::isfinite(half)) return;
  const double a = AsMeasured(change.mean - half, check.direction),
               b = AsMeasured(change.mean + half, check.direction);
  check.ci_low = std::min(a, b);
  check.ci_high = std::max(a, b);
}

// `shown`: a loss above the margin, in view of all that is tested at this look.
void Decide(const PairChange& change, double tail, bool shown, const PerformancePolicy& policy,
            Check& check) {
  const double limit = std::log1p(policy.margin), half = record::PairHalfWidth(change, tail);
  SetInterval(change, half, check);
  if (tail <= 0 || !check.ci_low) {
    check.outcome = Outcome::kInconclusive;
    check.reason = fmt::format("{} after {}: no look yet", Percent(*check.change), PairsText(change.pairs));
    return;
  }
  check.mde = std::expm1(limit + half + record::NormalQuantile(0.8) * change.standard_error);
  const auto least = policy.min_change.find(check.metric);
  const double min_change = least == policy.min_change.end() ? 0 : least->second;
  const double absolute = std::abs(*check.value - *check.reference);
  const std::string measured =
      fmt::format("{} (95 % {} to {}, {})", Percent(*check.change), Percent(*check.ci_low),
                  Percent(*check.ci_high), PairsText(change.pairs));
  if (shown && absolute >= min_change) {
    check.outcome = Outcome::kFail;
    check.reason =
        fmt::format("{}: worse by more than the margin of {:.3g} %", measured, policy.margin * 100);
  } else if (shown) {
    check.reason = fmt::format("{}: worse, but by {:.3g} {}, below the least change that counts ({:.3g})",
                               measured, absolute, check.unit, min_change);
  } else if (change.mean + half < limit) {
    check.improved = change.mean + half < 0 && change.mean < -limit;
    check.reason =
        fmt::format("{}: {}", measured,
                    check.improved ? "better by more than the margin"
                                   : fmt::format("a loss of {:.3g} % is excluded", policy.margin * 100));
    if (!check.improved && change.mean - half > 0) check.reason += "; slower, but surely by less than that";
  } else {
    check.outcome = Outcome::kInconclusive;
    check.reason =
        fmt::format("{}: a loss of {:.3g} % is neither shown nor excluded{}", measured, policy.margin * 100,
                    change.mean - half > limit ? " by all primary metrics together (Holm)" : "");
  }
}

}  // namespace

std::vector<Check> JudgePairedSpeed(const record::CellRecord& cell,
                                    const std::vector<PairedBenchmark>& benchmarks,
                                    const PerformancePolicy& policy, const Looks& looks) {
  std::vector<Row> rows;
  for (const PairedBenchmark& benchmark : benchmarks) {
    std::vector<std::string> names;
    for (const Metric& metric : benchmark.pairs.front().head->metrics) names.push_back(metric.name);
    for (const std::string& primary : policy.primary)
      if (std::find(names.begin(), names.end(), primary) == names.end()) names.push_back(primary);
    for (const std::string& name : names) {
      rows.push_back(MakeRow(cell, benchmark, name, policy));
      DemoteTail(benchmark, rows.back().check);
    }
  }
  // Primary metrics share the error; an observation decides nothing and stands alone.
  std::vector<double> p_values;
  for (Row& row : rows) {
    if (!row.change) continue;
    row.check.p_value = record::PairPValue(*row.change, std::log1p(policy.margin));
    if (row.check.primary) p_values.push_back(*row.check.p_value);
  }
  const std::vector<double> adjusted = record::HolmAdjusted(p_values);
  const size_t tests = std::max<size_t>(1, adjusted.size());
  auto next = adjusted.begin();
  std::vector<Check> checks;
  for (Row& row : rows) {
    if (row.change) {
      const std::string before = row.check.reason;
      const double tail = looks.Tail(row.change->pairs);
      // The error that all share buys `level`, all of it for the most evident loss; tests x p against tests x
      // tail, as Holm's adjustment has it.
      const double level =
          row.check.primary ? static_cast<double>(tests) * looks.Tail(row.change->pairs, tests) : tail;
      const double p = row.check.primary ? *next++ : *row.check.p_value;
      if (row.check.primary) row.check.p_adjusted = p;
      Decide(*row.change, tail, p <= level && tail > 0, policy, row.check);
      if (!before.empty()) row.check.reason += "; " + before;
      if (row.check.primary) AddRobustFigures(row, row.check);
    }
    checks.push_back(std::move(row.check));
  }
  return checks;
}

}  // namespace assay::gate
