#include "gate/foresight.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "gate/accuracy.h"
#include "gate/comparable.h"
#include "record/distributions.h"
#include "record/sequential.h"

namespace assay::gate {
namespace {

using record::AccuracyRecord;

constexpr int64_t kParts = 40;
constexpr int64_t kMostPlanned = 10'000'000;  // no eval has more, whatever a record says
constexpr double kAlpha = 0.05;

}  // namespace

std::vector<int64_t> Looks(int64_t planned) {
  std::vector<int64_t> looks;
  for (int64_t i = 1; i < kParts; ++i) {
    const int64_t after = planned * i / kParts;
    if (after > 0 && (looks.empty() || after > looks.back())) looks.push_back(after);
  }
  return looks;
}

int64_t PassingCount(const ThresholdPolicy& policy, int64_t n) {
  int64_t low = 0, high = n + 1;  // all rules rise with the score
  while (low < high) {
    const int64_t k = (low + high) / 2;
    const bool guesses = static_cast<double>(k) / static_cast<double>(n) < policy.broken_below;
    if (ReachesThreshold(k, n, policy) && !guesses) {
      high = k;
    } else {
      low = k + 1;
    }
  }
  return low;
}

Foresight::Foresight(int64_t planned, const record::Sequential& sequential)
    : planned_(planned), looks_(sequential.looks) {
  if (planned > kMostPlanned) looks_.clear();
  std::erase_if(looks_, [&](int64_t look) { return look <= 0 || look >= planned; });
  std::sort(looks_.begin(), looks_.end());
  looks_.erase(std::unique(looks_.begin(), looks_.end()), looks_.end());
  for (const int64_t look : looks_) {
    const double error = sequential.error > 0 ? std::min(sequential.error, 0.5) : 0;
    spent_.push_back(record::SpentError(static_cast<double>(look) / static_cast<double>(planned), error));
  }
}

std::optional<size_t> Foresight::LookAfter(size_t samples) const {
  const auto found = std::find(looks_.begin(), looks_.end(), static_cast<int64_t>(samples));
  if (found == looks_.end()) return std::nullopt;
  return static_cast<size_t>(found - looks_.begin());
}

// The best total that still fails, and the worst that still passes, are the hardest to tell from the other
// side. Wrong answers are counted as right ones are.
const Foresight::CountLimits& Foresight::LimitsFor(int64_t passing) const {
  const auto known = limits_.find(passing);
  if (known != limits_.end()) return known->second;
  return limits_[passing] = {record::CountBounds(planned_, passing - 1, looks_, spent_),
                             record::CountBounds(planned_, planned_ - passing, looks_, spent_)};
}

// A part's mean lies around the whole's with the variance of a draw without replacement.
const std::vector<double>& Foresight::Bounds() const {
  if (!bounds_.empty()) return bounds_;
  std::vector<double> information;
  for (const int64_t look : looks_) {
    const auto n = static_cast<double>(look), all = static_cast<double>(planned_);
    information.push_back(n * all / (all - n));
  }
  return bounds_ = record::SequentialBounds(information, spent_);
}

Foreseen Foresight::Threshold(const AccuracyRecord& part, const ThresholdPolicy& policy) const {
  const std::optional<size_t> look = LookAfter(part.samples.size());
  if (!look) return Foreseen::kOpen;
  const int64_t passing = PassingCount(policy, planned_);
  if (passing == 0) return Foreseen::kPass;
  if (passing > planned_) return Foreseen::kFail;
  const CountLimits& limits = LimitsFor(passing);
  const int64_t right = Count(part).correct;
  if (right >= limits.right[*look]) return Foreseen::kPass;
  if (looks_[*look] - right >= limits.wrong[*look]) return Foreseen::kFail;
  return Foreseen::kOpen;
}

PartDifference DifferenceOfPart(const AccuracyRecord& part, const AccuracyRecord& baseline, int64_t planned) {
  std::map<std::pair<std::string, int>, bool> before;
  for (const record::QuestionSample& sample : baseline.samples)
    before[{sample.id, sample.repeat}] = sample.correct;

  PartDifference difference;
  std::map<std::string, std::vector<int>> by_question;
  for (const record::QuestionSample& sample : part.samples) {
    const auto other = before.find({sample.id, sample.repeat});
    if (other == before.end()) continue;
    const int d = static_cast<int>(sample.correct) - static_cast<int>(other->second);
    by_question[sample.id].push_back(d);
    ++difference.samples;
    difference.lost += d < 0;
    difference.won += d > 0;
  }
  if (difference.samples == 0) return difference;
  const auto n = static_cast<double>(difference.samples), all = static_cast<double>(planned);
  difference.mean = static_cast<double>(difference.won - difference.lost) / n;

  // A question's sum over the asked part of its samples grows into its whole sum; what two of its samples
  // have in common is seen in n/N squared of all pairs, the samples themselves in n/N of all.
  const double share = n / all;
  double squares = 0, clusters = 0;
  for (const auto& [id, differences] : by_question) {
    double sum = 0, own = 0;
    for (const int d : differences) {
      const double e = d - difference.mean;
      sum += e;
      own += e * e;
    }
    squares += own;
    clusters += (sum * sum - (1 - share) * own) / (share * share);
  }
  // Never below three discordant pairs: as in the comparison of whole evals.
  difference.deviation = std::sqrt(std::max(squares, 3.0) / n);
  const double questions = all / std::max(1, part.repeats);
  difference.whole_error = std::max(std::sqrt(std::max(clusters, 0.0)) / all, std::sqrt(3.0) / questions);
  return difference;
}

Foreseen Foresight::Paired(const AccuracyRecord& part, const AccuracyRecord& baseline,
                           const AccuracyPolicy& policy) const {
  const std::optional<size_t> look = LookAfter(part.samples.size());
  if (!look) return Foreseen::kOpen;
  const PartDifference seen = DifferenceOfPart(part, baseline, planned_);
  if (seen.samples != looks_[*look]) return Foreseen::kOpen;

  const auto n = static_cast<double>(seen.samples), all = static_cast<double>(planned_);
  const double reach = Bounds()[*look] * seen.deviation * std::sqrt(1 / n - 1 / all);
  const double half = record::NormalQuantile(1 - kAlpha) * seen.whole_error;
  const double passes_above = half - policy.margin;
  const double fails_below = std::min({-half, -policy.min_effect, passes_above});
  if (seen.mean - reach > passes_above) return Foreseen::kPass;
  if (seen.mean + reach < fails_below) return Foreseen::kFail;
  return Foreseen::kOpen;
}

bool IsDecided(const record::CellRecord& cell, const CellPolicy& policy, const Foresight& foresight) {
  const AccuracyRecord& part = *cell.accuracy;
  std::vector<Foreseen> all;
  if (policy.policy.threshold) all.push_back(foresight.Threshold(part, *policy.policy.threshold));
  if (policy.policy.accuracy.paired && policy.baseline.requested) {
    const AccuracyBaseline baseline = FindAccuracyBaseline(cell, policy);
    if (baseline.cell)
      all.push_back(foresight.Paired(part, *baseline.cell->accuracy, policy.policy.accuracy));
  }
  const auto is = [](Foreseen wanted) { return [wanted](Foreseen each) { return each == wanted; }; };
  return std::any_of(all.begin(), all.end(), is(Foreseen::kFail)) ||
         (!all.empty() && std::all_of(all.begin(), all.end(), is(Foreseen::kPass)));
}

}  // namespace assay::gate
