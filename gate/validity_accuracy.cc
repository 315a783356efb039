#include "gate/validity_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "gate/check.h"
#include "gate/text.h"
#include "record/score.h"

namespace assay::gate {
namespace {

using record::AccuracyRecord;
using record::CellRecord;
using record::Check;
using record::Outcome;

// A part that was drawn at random and ends at one of the looks says what it says; any other part does not.
Check Stopped(Check check, const AccuracyRecord& accuracy, int64_t planned) {
  const auto& looks = accuracy.sequential->looks;
  const auto asked = static_cast<int64_t>(accuracy.samples.size());
  const bool at_a_look = std::find(looks.begin(), looks.end(), asked) != looks.end() && asked < planned;
  check.limit_low = check.limit_high = std::nullopt;
  check.outcome = at_a_look ? Outcome::kPass : Outcome::kInvalid;
  check.reason =
      at_a_look ? fmt::format("ended after {} of {} samples in random order, {} sent: the verdict was clear",
                              asked, planned, accuracy.sequential->sent)
                : fmt::format("ended after {} of {} samples, which is none of the looks that were planned",
                              asked, planned);
  return check;
}

Check Finished(const CellRecord& cell, double max_failed_share) {
  const AccuracyRecord& accuracy = *cell.accuracy;
  const int64_t planned = accuracy.questions * accuracy.repeats;
  Check check = MakeCheck(cell, "validity", "V6_completed." + accuracy.eval, "validity");
  const auto all = static_cast<double>(planned);
  check = Within(std::move(check), static_cast<double>(accuracy.samples.size()), all, all);
  check.reference = all;
  check.samples = planned;
  if (accuracy.sequential && accuracy.sequential->stopped)
    return Stopped(std::move(check), accuracy, planned);
  if (!accuracy.complete || planned <= 0) check.outcome = Outcome::kInvalid;
  const bool whole = check.outcome == Outcome::kPass;
  const bool hopeless =
      static_cast<double>(Count(accuracy).failed) > max_failed_share * static_cast<double>(planned);
  check.reason =
      whole ? fmt::format("all {} samples were asked", planned)
            : fmt::format("{} of {} planned samples were asked; a part of the questions is not the score{}",
                          accuracy.samples.size(), planned,
                          hopeless ? "; asking ended when too many requests had failed" : "");
  return check;
}

Check FailedShare(const CellRecord& cell, double limit) {
  const record::AccuracyCounts counts = Count(*cell.accuracy);
  Check check = MakeCheck(cell, "validity", "V6_failed_samples." + cell.accuracy->eval, "validity");
  check.samples = counts.samples;
  const double share =
      counts.samples == 0 ? 0 : static_cast<double>(counts.failed) / static_cast<double>(counts.samples);
  check = Within(std::move(check), share, std::nullopt, limit);
  check.reference = limit;
  check.reason = fmt::format("{} of {} requests failed ({:.1f} %, limit {:.1f} %)", counts.failed,
                             counts.samples, share * 100, limit * 100);
  if (counts.failed > 0) {
    std::map<std::string, int> errors;
    for (const record::QuestionSample& sample : cell.accuracy->samples) {
      if (!sample.error.empty()) ++errors[sample.error];
    }
    for (const auto& [error, count] : errors) {
      if (check.details.size() == 3) break;
      check.details.push_back(fmt::format("{} x {}", count, error));
    }
  }
  return check;
}

Check EachSampleOnce(const CellRecord& cell) {
  const AccuracyRecord& accuracy = *cell.accuracy;
  Check check = MakeCheck(cell, "validity", "V9_score_grid." + accuracy.eval, "validity");
  check.samples = static_cast<int64_t>(accuracy.samples.size());
  std::set<std::pair<std::string, int>> seen;
  std::set<std::string> questions;
  std::vector<std::string> twice;
  bool repeats_in_range = true;
  for (const record::QuestionSample& sample : accuracy.samples) {
    questions.insert(sample.id);
    if (!seen.emplace(sample.id, sample.repeat).second) twice.push_back(sample.id);
    repeats_in_range &= sample.repeat >= 0 && sample.repeat < accuracy.repeats;
  }
  check = Within(std::move(check), static_cast<double>(questions.size()), std::nullopt,
                 static_cast<double>(accuracy.questions));
  check.reference = static_cast<double>(accuracy.questions);
  const record::AccuracyCounts counts = Count(accuracy);
  if (!twice.empty()) {
    check.outcome = Outcome::kInvalid;
    check.reason = "answered more than once, so the score is not k/n of the questions: " + FirstFew(twice, 3);
  } else if (check.outcome == Outcome::kInvalid || !repeats_in_range) {
    check.outcome = Outcome::kInvalid;
    check.reason = fmt::format("samples of {} questions for {} planned, or repeats outside 0..{}",
                               questions.size(), accuracy.questions, accuracy.repeats - 1);
  } else {
    check.reason =
        fmt::format("the score is {} of {} samples, each asked once", counts.correct, counts.samples);
  }
  return check;
}

// A stated score can only be held against the k/n that its samples allow.
std::vector<Check> StatedScoreValidity(const CellRecord& cell) {
  const AccuracyRecord& accuracy = *cell.accuracy;
  const std::string why = accuracy.source + " results state a score and not its samples";
  const auto named = [&](const char* name) {
    return MakeCheck(cell, "validity", name + accuracy.eval, "validity");
  };
  Check grid = named("V9_score_grid.");
  grid.samples = accuracy.stated->samples;
  const std::string& printed = accuracy.stated->score;
  const double score = std::strtod(printed.c_str(), nullptr);
  const size_t point = printed.find('.');
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(printed.size() - point - 1);
  const int64_t correct = Count(accuracy).correct;
  // The nearest k/n as it would be printed, and half a unit of the last place around it.
  const double nearest = static_cast<double>(correct) / static_cast<double>(grid.samples);
  const double rounding = 0.5 * std::pow(10.0, -decimals);
  grid = Within(std::move(grid), score, nearest - rounding, nearest + rounding);
  const bool possible = record::OnScoreGrid(score, grid.samples, decimals);
  grid.outcome = possible ? Outcome::kPass : Outcome::kInvalid;
  grid.reason = possible ? fmt::format("{} is {} of {}", printed, correct, grid.samples)
                         : fmt::format(
                               "{} is no k of {} samples ({} would be {:.{}f}): the score or the number of "
                               "samples is not what was measured",
                               printed, grid.samples, correct,
                               static_cast<double>(correct) / static_cast<double>(grid.samples), decimals);
  return {NotPossible(named("V6_completed."), why), NotPossible(named("V6_failed_samples."), why), grid};
}

}  // namespace

std::vector<Check> AccuracyValidity(const CellRecord& cell, const AccuracyPolicy& policy) {
  if (cell.accuracy->stated) return StatedScoreValidity(cell);
  return {Finished(cell, policy.max_failed_share), FailedShare(cell, policy.max_failed_share),
          EachSampleOnce(cell)};
}

}  // namespace assay::gate
