#include "record/paired.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "gate/accuracy.h"
#include "gate/check.h"
#include "gate/text.h"
#include "record/distributions.h"
#include "record/rank_tests.h"

namespace assay::gate {
namespace {

using record::AccuracyRecord;
using record::CellRecord;
using record::Check;
using record::Outcome;

constexpr double kPower = 0.8;
constexpr size_t kNamesShown = 5;

// What both sides made of each question, in its order of id: right or wrong, ended or cut.
struct Flips {
  record::DiscordantPairs pairs;           // samples, one pair for each question and repeat
  std::vector<int64_t> net;                // one a question: answers won less lost
  std::vector<double> differences;         // the same as a share of its repeats
  std::vector<std::string> broken, fixed;  // question ids, by the difference of their shares
};

using Good = bool (*)(const record::QuestionSample&);

Flips Compare(const AccuracyRecord& ours, const AccuracyRecord& theirs, Good good) {
  std::map<std::pair<std::string, int>, bool> before;
  for (const record::QuestionSample& sample : theirs.samples)
    before[{sample.id, sample.repeat}] = good(sample);
  Flips flips;
  std::map<std::string, int> net;
  for (const record::QuestionSample& sample : ours.samples) {
    const bool was_good = before.at({sample.id, sample.repeat}), is_good = good(sample);
    ++flips.pairs.questions;
    flips.pairs.broken += was_good && !is_good;
    flips.pairs.fixed += !was_good && is_good;
    net[sample.id] += static_cast<int>(is_good) - static_cast<int>(was_good);
  }
  for (const auto& [id, change] : net) {
    flips.net.push_back(change);
    flips.differences.push_back(static_cast<double>(change) / ours.repeats);
    if (change < 0) flips.broken.push_back(id);
    if (change > 0) flips.fixed.push_back(id);
  }
  return flips;
}

// No discordant pair is no proof of no loss: with three expected, none is seen once in twenty (rule of
// three). The standard error therefore never falls below that of three pairs.
double AtLeastThreePairs(double standard_error, size_t questions) {
  return std::max(standard_error, std::sqrt(3.0) / static_cast<double>(questions));
}

struct Statistics {
  record::Difference difference;
  double mde = 0;
  double p_value = 1;  // exact, one-sided: evidence of a loss
};

Statistics Infer(const Flips& flips, int repeats, double alpha) {
  const size_t questions = flips.differences.size();
  Statistics statistics;
  statistics.p_value = record::SignFlipTest(flips.net).p_negative;
  if (repeats == 1) {
    statistics.difference = PairedDifference(flips.pairs);
    const auto n = static_cast<double>(questions);
    const auto discordant = static_cast<double>(flips.pairs.broken + flips.pairs.fixed);
    statistics.mde = record::PairedMde(std::min(1.0, std::max(3.0, discordant) / n), n, alpha, kPower);
  } else {
    statistics.difference = record::ClusteredDifference(flips.differences);
  }
  double& standard_error = statistics.difference.standard_error;
  standard_error = AtLeastThreePairs(standard_error, questions);
  if (repeats > 1) statistics.mde = record::MdeFromStandardError(standard_error, alpha, kPower);
  return statistics;
}

// `change` is the difference as it was measured, whichever way is better.
void SetDifference(const Statistics& statistics, double change, double shown, Check& check) {
  const double half = record::NormalQuantile(1 - shown) * statistics.difference.standard_error;
  check.change = change;
  check.ci_low = change - half;
  check.ci_high = change + half;
  check.mde = statistics.mde;
  check.p_value = statistics.p_value;
}

Outcome Decide(const Statistics& statistics, const AccuracyPolicy& policy, double alpha) {
  const double half = record::NormalQuantile(1 - alpha) * statistics.difference.standard_error;
  const double d = statistics.difference.mean;
  if (d - half > -policy.margin) return Outcome::kPass;
  return statistics.p_value < alpha && d <= -policy.min_effect ? Outcome::kFail : Outcome::kInconclusive;
}

// The error falls with the square root of the repeats, as far as more of them are what it comes from.
std::string MoreRepeats(double mde, double margin, int repeats) {
  if (margin <= 0 || mde <= margin) return "";
  const double factor = mde / margin;
  if (repeats == 1) return ", more repeats find smaller ones";
  return fmt::format(", about {:.0f} repeats one of {:.1f}", std::ceil(repeats * factor * factor),
                     margin * 100);
}

std::string Reason(const Check& check, const Flips& flips, double margin, int repeats) {
  const std::string counts = fmt::format("{} answers lost and {} won of {} ({}, 95 % {:+.1f} to {:+.1f})",
                                         flips.pairs.broken, flips.pairs.fixed, flips.pairs.questions,
                                         Points(*check.change), *check.ci_low * 100, *check.ci_high * 100);
  switch (check.outcome) {
    case Outcome::kPass:
      return fmt::format("{}: {}a loss of {:.1f} points is excluded", counts,
                         check.improved ? "better, and " : "", margin * 100);
    case Outcome::kFail:
      return fmt::format("{}: a loss is shown, and one of {:.1f} points is not excluded", counts,
                         margin * 100);
    default:
      return fmt::format(
          "{}: a loss of {:.1f} points is neither shown nor excluded; this run finds losses from {:.1f} "
          "points on{}",
          counts, margin * 100, *check.mde * 100, MoreRepeats(*check.mde, margin, repeats));
  }
}

void AddNames(const char* label, const std::vector<std::string>& names, Check& check) {
  if (!names.empty())
    check.details.push_back(fmt::format("{} ({}): {}", label, names.size(), FirstFew(names, kNamesShown)));
}

// A score that fell because answers were cut is another fault than wrong answers.
void AddOtherCauses(const AccuracyRecord& ours, const AccuracyRecord& theirs, Check& check) {
  const record::AccuracyCounts now = Count(ours), before = Count(theirs);
  if (now.truncated != before.truncated) {
    check.details.push_back(fmt::format("answers cut at the token limit: {} here, {} in the baseline",
                                        now.truncated, before.truncated));
  }
  if (now.unparsed != before.unparsed) {
    check.details.push_back(fmt::format("answers without a readable letter: {} here, {} in the baseline",
                                        now.unparsed, before.unparsed));
  }
}

}  // namespace

Check JudgePaired(const CellRecord& cell, const CellRecord& baseline, const AccuracyPolicy& policy,
                  const Tails& tails) {
  const AccuracyRecord &ours = *cell.accuracy, &theirs = *baseline.accuracy;
  const Flips flips = Compare(ours, theirs, [](const record::QuestionSample& s) { return s.correct; });
  Check check = MakeCheck(cell, "accuracy", ours.eval + "_score", "paired");
  const record::AccuracyCounts now = Count(ours), before = Count(theirs);
  check.value = static_cast<double>(now.correct) / static_cast<double>(now.samples);
  check.reference = static_cast<double>(before.correct) / static_cast<double>(before.samples);
  check.samples = now.samples;
  check.baseline_samples = before.samples;
  check.margin = policy.margin;
  if (flips.differences.size() < 2) {
    check.outcome = Outcome::kInconclusive;
    check.reason = "one question cannot be compared; ask more";
    return check;
  }
  const Statistics statistics = Infer(flips, ours.repeats, tails.deciding);
  SetDifference(statistics, statistics.difference.mean, tails.shown, check);
  check.outcome = Decide(statistics, policy, tails.deciding);
  check.improved = *check.ci_low > 0;
  check.reason = Reason(check, flips, policy.margin, ours.repeats);
  AddNames("lost", flips.broken, check);
  AddNames("won", flips.fixed, check);
  AddOtherCauses(ours, theirs, check);
  return check;
}

std::vector<Check> JudgeCutAnswers(const CellRecord& cell, const CellRecord& baseline,
                                   const AccuracyPolicy& policy, const Tails& tails) {
  const AccuracyRecord &ours = *cell.accuracy, &theirs = *baseline.accuracy;
  const record::AccuracyCounts now = Count(ours), before = Count(theirs);
  if (now.truncated + before.truncated == 0) return {};
  const Flips flips =
      Compare(ours, theirs, [](const record::QuestionSample& s) { return s.finish_reason != "length"; });
  if (flips.differences.size() < 2) return {};
  const Statistics statistics = Infer(flips, ours.repeats, tails.deciding);
  const double more = -statistics.difference.mean;
  Check check = MakeCheck(cell, "accuracy", ours.eval + "_cut_share", "paired");
  check.direction = record::Direction::kLowerIsBetter;
  check.value = static_cast<double>(now.truncated) / static_cast<double>(now.samples);
  check.reference = static_cast<double>(before.truncated) / static_cast<double>(before.samples);
  check.samples = now.samples;
  check.baseline_samples = before.samples;
  check.margin = policy.margin;
  SetDifference(statistics, more, tails.shown, check);
  check.outcome = Decide(statistics, policy, tails.deciding);
  check.reason = fmt::format("{} of {} answers were cut at the token limit, {} of {} in the baseline ({})",
                             now.truncated, now.samples, before.truncated, before.samples, Points(more));
  if (check.outcome == Outcome::kFail) check.reason += ": does the model's end token still end an answer?";
  AddNames("cut", flips.broken, check);
  return {check};
}

}  // namespace assay::gate
