#include "reports/judgement.h"

#include <algorithm>

#include "base/text.h"
#include "reports/check_names.h"
#include "reports/place.h"

namespace assay::reports {
namespace {

using record::Check;
using record::Outcome;

bool Any(const View& view, bool (*wanted)(const Check&)) {
  const auto& checks = view.input.verdict.checks;
  return std::any_of(checks.begin(), checks.end(), wanted);
}

bool Fails(const Check& check) {
  return check.primary && check.outcome == Outcome::kFail;
}

std::string_view FailureFlag(const Check& check) {
  if (check.rule == "server" && check.metric == "hang") return "server hangs";
  if (check.rule == "server") return "server breaks";
  if (check.rule == "threshold") return "score below its limit";
  if (check.rule == "broken_line") return "model guesses";
  if (check.rule == "same_answers") return "answers changed";
  if (check.rule == "reproducibility") return "answers change from run to run";
  return check.group == "accuracy" ? "accuracy loss" : !Benchmark(check).empty() ? "slowdown" : "failure";
}

void Add(std::vector<std::string_view>& flags, std::string_view flag) {
  if (std::find(flags.begin(), flags.end(), flag) == flags.end()) flags.push_back(flag);
}

std::vector<std::string_view> FailureFlags(const View& view) {
  std::vector<std::string_view> flags;
  for (const Check& check : view.input.verdict.checks) {
    if (Fails(check)) Add(flags, FailureFlag(check));
  }
  return flags;
}

std::string Joined(const View& view, const std::vector<std::string_view>& flags) {
  std::vector<std::string> words;
  for (std::string_view flag : flags) words.push_back(view.say.Word(flag));
  return Join(words, view.say.Word(", "));
}

void AddRecordFlags(const record::CellRecord& cell, std::vector<std::string_view>& flags) {
  if (!cell.accuracy) return;
  const record::AccuracyCounts counts = Count(*cell.accuracy);
  if (counts.truncated > 0) Add(flags, "answers cut at the token limit");
  if (counts.unparsed > counts.truncated) Add(flags, "answers without a readable letter");
  if (cell.accuracy->sequential && cell.accuracy->sequential->stopped) Add(flags, "ended early");
}

}  // namespace

CheckCounts CountChecks(const record::Verdict& verdict) {
  CheckCounts counts;
  for (const Check& check : verdict.checks) {
    counts.not_judged += check.rule == "not_judged";
    if (!check.primary) continue;
    counts.fail += check.outcome == Outcome::kFail;
    counts.invalid += check.outcome == Outcome::kInvalid;
    counts.infrastructure += check.outcome == Outcome::kInfrastructure;
    counts.inconclusive += check.outcome == Outcome::kInconclusive;
    if (check.group == "validity") {
      ++counts.validity;
      counts.validity_holds += check.outcome == Outcome::kPass;
    } else {
      counts.pass += check.outcome == Outcome::kPass;
      counts.improved += check.improved;
    }
  }
  return counts;
}

Outcome CellOutcome(const View& view, const std::string& cell) {
  for (Outcome outcome :
       {Outcome::kFail, Outcome::kInvalid, Outcome::kInfrastructure, Outcome::kInconclusive}) {
    for (const Check* check : view.ChecksOf(cell)) {
      if (check->primary && check->outcome == outcome) return outcome;
    }
  }
  return Outcome::kPass;
}

std::vector<std::string> CellsThat(const View& view, Outcome outcome) {
  std::vector<std::string> cells;
  for (const record::CellRecord* cell : view.cells) {
    if (CellOutcome(view, cell->key) == outcome) cells.push_back(cell->key);
  }
  return cells;
}

std::vector<std::string_view> RiskFlags(const View& view) {
  const record::Verdict& verdict = view.input.verdict;
  std::vector<std::string_view> flags = FailureFlags(view);
  for (const Check& check : verdict.checks) {
    if (check.rule == "not_judged") Add(flags, "speed not judged");
    if (!check.primary) continue;
    if (check.outcome == Outcome::kInvalid)
      Add(flags, check.rule == "baseline" ? "no baseline" : "measurement invalid");
    if (check.outcome == Outcome::kInfrastructure) Add(flags, "infrastructure");
    if (check.outcome == Outcome::kInconclusive) Add(flags, "undecided");
    if (check.improved) Add(flags, "improvement");
  }
  for (const record::CellRecord* cell : view.cells) AddRecordFlags(*cell, flags);
  for (const record::VerdictNote& note : verdict.notes) {
    if (note.kind == "regression") Add(flags, "open regression on the branch");
    if (note.kind == "first_run") Add(flags, "first run, nothing compared");
    if (note.kind == "workaround") Add(flags, "workaround can go");
    if (note.kind == "workaround_stays") Add(flags, "workaround in use");
    if (note.kind == "acknowledged") Add(flags, "acknowledged regression");
  }
  for (const record::FingerprintDifference& difference : verdict.environment) {
    if (!StartsWith(difference.field, "engine")) Add(flags, "environment differs");
  }
  return flags;
}

namespace {

// A missing baseline is the only thing that stands in the way of a verdict.
bool OnlyBaselinesMissing(const View& view) {
  return view.input.verdict.missing_baseline && !Any(view, [](const Check& check) {
           return check.primary && check.outcome == Outcome::kInvalid && check.rule != "baseline";
         });
}

std::string SentenceOfOneCell(const View& view) {
  const Say& say = view.say;
  switch (view.input.verdict.outcome) {
    case Outcome::kFail:
      return say("This run shows: {}.", Joined(view, FailureFlags(view)));
    case Outcome::kInvalid:
      return OnlyBaselinesMissing(view) ? say("There is nothing to compare this run with.")
                                        : say("This measurement cannot be judged.");
    case Outcome::kInfrastructure:
      return say("Nothing could be measured.");
    case Outcome::kInconclusive:
      return say("The measurement is sound, and too little of it to decide anything.");
    case Outcome::kPass:
      break;
  }
  const CheckCounts counts = CountChecks(view.input.verdict);
  if (counts.pass == 0) return say("Nothing was judged.");
  return counts.improved > 0 ? say("No loss is shown, and {} checks improved.", counts.improved)
                             : say("No loss is shown.");
}

std::string SentenceOfManyCells(const Page& page) {
  const Say& say = page.say;
  const size_t all = page.cells.size();
  const std::vector<std::string> cells = CellsThat(page, page.input.verdict.outcome);
  const std::string names = NameList(page, cells, 3);
  switch (page.input.verdict.outcome) {
    case Outcome::kFail:
      return say("{} of {} cells show: {} ({}).", cells.size(), all, Joined(page, FailureFlags(page)), names);
    case Outcome::kInvalid:
      return OnlyBaselinesMissing(page)
                 ? say("There is nothing to compare {} of {} cells with: {}.", cells.size(), all, names)
                 : say("The measurement of {} of {} cells cannot be judged: {}.", cells.size(), all, names);
    case Outcome::kInfrastructure:
      return say("{} of {} cells could not be measured: {}.", cells.size(), all, names);
    case Outcome::kInconclusive:
      return say("{} of {} cells could not be decided: {}.", cells.size(), all, names);
    case Outcome::kPass:
      break;
  }
  const CheckCounts counts = CountChecks(page.input.verdict);
  if (counts.pass == 0) return say("Nothing was judged in {} cells.", all);
  return counts.improved > 0
             ? say("No loss is shown in {} cells, and {} checks improved.", all, counts.improved)
             : say("No loss is shown in {} cells.", all);
}

}  // namespace

std::string InOneSentence(const Page& page) {
  if (page.input.verdict.exit_code == 130) return page.say("The run was stopped before its end.");
  return page.ManyCells() ? SentenceOfManyCells(page) : SentenceOfOneCell(page);
}

std::string RecommendedAction(const Page& page) {
  const Say& say = page.say;
  const auto fails = [&](bool (*wanted)(const Check&)) { return Any(page, wanted); };
  if (page.input.verdict.exit_code == 130) return say("Go on with --resume, or run again.");
  switch (page.input.verdict.outcome) {
    case Outcome::kFail:
      if (fails([](const Check& check) { return Fails(check) && check.rule == "server"; }))
        return say(
            "Do not merge. The server broke while it was measured: its log below says where. Running again "
            "until "
            "it is green would only hide it.");
      if (fails([](const Check& check) { return Fails(check) && check.group == "accuracy"; }))
        return say(
            "Do not merge. Answers got worse: compare the lost questions below between the two builds, and "
            "rule "
            "out the environment differences. Running again until it is green would only hide it.");
      if (fails([](const Check& check) { return Fails(check) && check.rule == "same_answers"; }))
        return say(
            "Do not merge unless this change was meant to change the arithmetic: it gives other texts, "
            "whatever "
            "the score says. Look at kernels, layouts and number formats; what is meant can be accepted with "
            "assay "
            "baseline ack.");
      if (fails([](const Check& check) { return Fails(check) && check.rule == "reproducibility"; }))
        return say(
            "Do not merge. The same seeded requests got other texts: look at what a request's place in the "
            "batch, its seed and the prefix cache have to do with its answer.");
      return say(
          "Do not merge before the slowdown is explained or accepted. Rule out the environment differences "
          "below; "
          "interleaved runs of both builds on one machine confirm it. Running again until it is green would "
          "only "
          "hide it.");
    case Outcome::kInvalid:
      return OnlyBaselinesMissing(page) ? say("Measure the base branch on this machine first, then run this "
                                              "again. A gate without its "
                                              "reference says nothing about the change.")
                                        : say("Repair the measurement as named below and run again. These "
                                              "numbers say nothing about the "
                                              "change.");
    case Outcome::kInfrastructure:
      return say("Run once more: the reason lies outside the change.");
    case Outcome::kInconclusive:
      return say("Take more runs, or accept a wider margin: below is what would decide.");
    case Outcome::kPass:
      break;
  }
  return fails([](const Check& check) { return check.primary && check.outcome == Outcome::kInconclusive; })
             ? say("Nothing measured here speaks against merging; some checks are undecided and listed "
                   "below.")
             : say("Nothing measured here speaks against merging.");
}

}  // namespace assay::reports
