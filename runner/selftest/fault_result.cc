#include "runner/selftest/fault_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "gate/acknowledge.h"

namespace assay::runner {
namespace {

using record::Check;
using record::Outcome;
using record::Verdict;

constexpr size_t kReasonLength = 120;

// "V2_output_length.64-32" is V2_output_length of the benchmark 64-32.
std::string_view WithoutBenchmark(const Check& check) {
  return std::string_view(check.metric).substr(0, check.metric.find('.'));
}

bool IsRed(const Check& check) {
  return check.primary && (check.outcome == Outcome::kFail || check.outcome == Outcome::kInvalid ||
                           check.outcome == Outcome::kInfrastructure);
}

std::vector<const Check*> RedChecks(const Verdict& verdict) {
  std::vector<const Check*> red;
  for (const Check& check : verdict.checks) {
    if (IsRed(check)) red.push_back(&check);
  }
  return red;
}

std::string Named(const Check& check) {
  const std::string rule =
      check.rule == "validity" || check.group == "reproducibility" ? "" : " (" + check.rule + ")";
  return fmt::format("{} {}{}", record::Name(check.outcome), WithoutBenchmark(check), rule);
}

std::string Shortened(std::string text) {
  if (text.size() > kReasonLength) text = text.substr(0, kReasonLength) + " ...";
  return Printable(text);
}

// The check whose change is the effect: the paired one of a score, the judged one of a metric.
const Check* Effect(const Verdict& verdict, std::string_view metric) {
  for (const Check& check : verdict.checks) {
    const bool measures =
        check.rule == "paired" || check.rule == "performance" || check.rule == "reproducibility";
    if (measures && WithoutBenchmark(check) == metric) return &check;
  }
  return nullptr;
}

void ReadScore(const Check& check, std::optional<double> mde, FaultResult& result) {
  const bool higher = check.direction == record::Direction::kHigherIsBetter;
  result.size = higher ? -check.change.value_or(0) : check.change.value_or(0);
  result.mde = mde;
  const char* of = check.metric.ends_with("_cut_share") ? " of answers cut" : "";
  result.effect = fmt::format("{:+.1f} points{}", check.change.value_or(0) * 100, of);
  if (mde) result.mde_text = fmt::format("{:.1f} points", *mde * 100);
}

void ReadMetric(const Check& check, FaultResult& result) {
  const bool higher = check.direction == record::Direction::kHigherIsBetter;
  const double change = check.change.value_or(0);
  result.size = higher ? -change : change;
  result.mde = check.mde;
  result.effect = fmt::format("{:+.1f} % {}", change * 100, check.metric);
  result.mde_text = check.mde ? fmt::format("{:.1f} %", *check.mde * 100) : "not known";
}

void ReadReproducibility(const Check& check, FaultResult& result) {
  result.size = check.value.value_or(0);
  result.mde = 0;
  result.effect = fmt::format("{:.0f} of {} seeded answers differ", check.value.value_or(0), check.samples);
  result.mde_text = "1 answer";
}

}  // namespace

Standing StandingOf(const FaultResult& result) {
  if (result.red) return result.right_reason ? Standing::kCaught : Standing::kWrongReason;
  return result.size && result.mde && *result.size <= *result.mde ? Standing::kBelowMde : Standing::kMissed;
}

const char* Name(Standing standing) {
  switch (standing) {
    case Standing::kMissed:
      return "MISSED";
    case Standing::kWrongReason:
      return "WRONG REASON";
    case Standing::kBelowMde:
      return "below MDE";
    case Standing::kCaught:
      return "caught";
  }
  return "";
}

bool SaysOnlyThatThePaceDiffers(const Verdict& verdict) {
  const std::vector<const Check*> red = RedChecks(verdict);
  return !red.empty() && std::all_of(red.begin(), red.end(), [](const Check* check) {
    return gate::MetricOf(*check) == gate::kMachinePace;
  });
}

namespace {

// Texts change long before a score does.
std::string ChangedAnswers(const Verdict& verdict) {
  for (const Check& check : verdict.checks) {
    if (check.rule != "same_answers" || check.value.value_or(0) == 0) continue;
    return fmt::format(", {:.0f} of {} answers changed", *check.value, check.samples);
  }
  return "";
}

}  // namespace

FaultResult ReadVerdict(const Verdict& verdict, const CorpusEntry& entry, std::optional<double> score_mde) {
  FaultResult result;
  std::vector<std::string> names;
  const std::vector<const Check*> red = RedChecks(verdict);
  for (const Check* check : red) {
    const auto metric = WithoutBenchmark(*check);
    result.right_reason |= std::find(entry.right.begin(), entry.right.end(), metric) != entry.right.end();
    names.push_back(Named(*check));
  }
  result.red = !red.empty();
  result.caught_by = Join(names, ", ");
  const Check* effect = entry.metric.empty() ? nullptr : Effect(verdict, entry.metric);
  if (effect == nullptr) {
    result.effect = red.empty() ? "none seen" : Shortened(red.front()->reason);
  } else if (effect->rule == "paired") {
    ReadScore(*effect, score_mde, result);
    result.effect += ChangedAnswers(verdict);
  } else if (effect->rule == "performance") {
    ReadMetric(*effect, result);
  } else {
    ReadReproducibility(*effect, result);
  }
  return result;
}

}  // namespace assay::runner
