#include "gate/fold.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "gate/text.h"

namespace assay::gate {
namespace {

using record::Check;
using record::Outcome;
using record::Verdict;

int64_t CountOf(const std::vector<Check>& checks, Outcome outcome) {
  return std::count_if(checks.begin(), checks.end(),
                       [outcome](const Check& check) { return check.primary && check.outcome == outcome; });
}

std::string Subject(const Check& check) {
  if (check.rule == "server") return check.reason;
  const std::string change =
      check.change ? " " + (check.group == "accuracy" ? Points(*check.change) : Percent(*check.change)) : "";
  if (StartsWith(check.group, "serving:"))
    return fmt::format("{} {}{}", check.group.substr(8), check.metric, change);
  if (ComparesAnswers(check)) return check.metric + change + " against the baseline";
  if (check.rule == "threshold") return check.metric + " against the threshold";
  if (check.rule == "broken_line") return check.metric + " near chance";
  if (check.rule == "baseline") return "no " + check.group + " baseline";
  return check.metric;
}

// "gpqa_score against the threshold, 1k1k ttft_p50_ms and 3 more".
std::string Subjects(const std::vector<Check>& checks, Outcome outcome) {
  constexpr size_t kShown = 3;
  std::vector<std::string> subjects;
  for (const Check& check : checks) {
    if (check.primary && check.outcome == outcome) subjects.push_back(Subject(check));
  }
  const size_t more = subjects.size() > kShown ? subjects.size() - kShown : 0;
  subjects.resize(subjects.size() - more);
  return Join(subjects, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string Counts(const Verdict& verdict) {
  int64_t pass = 0, undecided = 0, improved = 0;
  for (const Check& check : verdict.checks) {
    if (!check.primary || check.group == "validity") continue;
    pass += check.outcome == Outcome::kPass;
    undecided += check.outcome == Outcome::kInconclusive;
    improved += check.improved;
  }
  const bool accepted = std::any_of(verdict.checks.begin(), verdict.checks.end(),
                                    [](const Check& check) { return !check.acknowledged.empty(); });
  if (pass == 0 && undecided == 0 && !accepted && verdict.outcome == Outcome::kPass) {
    return "nothing was judged, for want of a threshold and a baseline";
  }
  std::string text =
      pass == 0 ? "nothing passes" : fmt::format("{} check{}", pass, pass == 1 ? " passes" : "s pass");
  if (undecided > 0) text += fmt::format(", {} inconclusive", undecided);
  if (improved > 0) text += fmt::format(", {} improved", improved);
  return text;
}

// Where nothing was compared a green line must not read as if it had been.
std::string FirstRun(const Verdict& verdict) {
  const bool first = std::any_of(verdict.notes.begin(), verdict.notes.end(),
                                 [](const record::VerdictNote& note) { return note.kind == "first_run"; });
  return first ? "; first run here: recorded, not compared, see the notes" : "";
}

// What a green line must not hide.
std::string Besides(const Verdict& verdict) {
  const auto acknowledged = std::count_if(verdict.checks.begin(), verdict.checks.end(),
                                          [](const Check& check) { return !check.acknowledged.empty(); });
  const auto workarounds =
      std::count_if(verdict.notes.begin(), verdict.notes.end(),
                    [](const record::VerdictNote& note) { return note.kind == "workaround"; });
  std::string text;
  if (acknowledged > 0) text += fmt::format("; {} acknowledged", acknowledged);
  if (workarounds > 0)
    text += fmt::format("; {} workaround{} can go", workarounds, workarounds == 1 ? "" : "s");
  return text;
}

bool OnlyBaselinesAreMissing(const std::vector<Check>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.outcome != Outcome::kInvalid || !check.primary || check.rule == "baseline";
  });
}

}  // namespace

bool HasWrongAnswers(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.primary && check.outcome == Outcome::kFail && check.group != "reproducibility";
  });
}

bool Has(const std::vector<Check>& checks, Outcome outcome) {
  return CountOf(checks, outcome) > 0;
}

Outcome Fold(const std::vector<Check>& checks, bool strict) {
  for (Outcome outcome : {Outcome::kFail, Outcome::kInvalid, Outcome::kInfrastructure}) {
    if (Has(checks, outcome)) return outcome;
  }
  if (!Has(checks, Outcome::kInconclusive)) return Outcome::kPass;
  const bool decided = std::any_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.primary && check.group != "validity" && check.outcome == Outcome::kPass;
  });
  return decided && !strict ? Outcome::kPass : Outcome::kInconclusive;
}

int ExitCode(const std::vector<Check>& checks, bool strict, bool interrupted) {
  if (interrupted) return 130;
  if (Has(checks, Outcome::kFail)) return 1;
  if (Has(checks, Outcome::kInvalid)) return 4;
  if (Has(checks, Outcome::kInfrastructure)) return 75;
  if (strict && Has(checks, Outcome::kInconclusive)) return 3;
  return 0;
}

std::string Headline(const Verdict& verdict, bool interrupted) {
  if (interrupted) {
    return "INTERRUPTED: stopped before the end; what was measured is kept and nothing of it is a verdict";
  }
  const std::string subjects = Subjects(verdict.checks, verdict.outcome);
  switch (verdict.outcome) {
    case Outcome::kFail:
      return fmt::format("FAIL: {}; {}", subjects, Counts(verdict));
    case Outcome::kInvalid:
      if (OnlyBaselinesAreMissing(verdict.checks))
        return fmt::format("NO BASELINE: {}; {}", subjects, Counts(verdict));
      return fmt::format("INVALID: the measurement cannot be judged: {}; {}", subjects, Counts(verdict));
    case Outcome::kInfrastructure:
      return "INFRASTRUCTURE: not measured, worth one retry: " + subjects;
    case Outcome::kInconclusive:
      return fmt::format("INCONCLUSIVE: not enough data to decide: {}; {}", subjects, Counts(verdict));
    case Outcome::kPass:
      return "PASS: " + Counts(verdict) + FirstRun(verdict) + Besides(verdict);
  }
  return "";
}

}  // namespace assay::gate
