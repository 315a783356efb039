#include "gate/reproducibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gate/check.h"
#include "gate/text.h"

namespace assay::gate {
namespace {

constexpr size_t kNamesShown = 5;

// Answers that both sides gave, and the questions whose texts differ.
struct Texts {
  int64_t compared = 0, unknown = 0, changed = 0;
  std::vector<std::string> questions;
};

Texts CompareTexts(const record::AccuracyRecord& ours, const record::AccuracyRecord& theirs) {
  std::map<std::pair<std::string, int>, std::string> before;
  for (const record::QuestionSample& sample : theirs.samples)
    before[{sample.id, sample.repeat}] = sample.answer_hash;
  Texts texts;
  for (const record::QuestionSample& sample : ours.samples) {
    const auto found = before.find({sample.id, sample.repeat});
    if (found == before.end() || found->second.empty() || sample.answer_hash.empty()) {
      ++texts.unknown;
      continue;
    }
    ++texts.compared;
    if (found->second == sample.answer_hash) continue;
    ++texts.changed;
    if (texts.questions.empty() || texts.questions.back() != sample.id) texts.questions.push_back(sample.id);
  }
  return texts;
}

}  // namespace

std::optional<record::Check> JudgeSameAnswers(const record::CellRecord& cell,
                                              const record::CellRecord& baseline,
                                              const AccuracyPolicy& policy) {
  const record::AccuracyRecord &ours = *cell.accuracy, &theirs = *baseline.accuracy;
  record::Check check = MakeCheck(cell, "reproducibility", ours.eval + "_changed_answers", "same_answers");
  const Texts texts = CompareTexts(ours, theirs);
  if (texts.compared == 0) {
    if (!policy.same_answers) return std::nullopt;
    return NotPossible(std::move(check), "the baseline keeps no hashes of its answers; record a new one");
  }
  if (ours.temperature > 0 && !policy.same_answers) return std::nullopt;
  const bool same_device = cell.fingerprint.device == baseline.fingerprint.device;
  check.direction = record::Direction::kLowerIsBetter;
  check.value = static_cast<double>(texts.changed);
  check.reference = 0;
  check.samples = texts.compared;
  check.primary = policy.same_answers && same_device && texts.unknown == 0;
  check.reason = texts.changed == 0
                     ? fmt::format("{} answers are word for word the baseline's", texts.compared)
                     : fmt::format("{} of {} answers are another text than the baseline's", texts.changed,
                                   texts.compared);
  if (texts.changed == 0) return check;
  check.outcome = check.primary ? record::Outcome::kFail : record::Outcome::kInconclusive;
  if (check.primary) check.reason += ", and the config says that no change may do that";
  if (!same_device) check.reason += "; the baseline ran on another device";
  check.details.push_back(
      fmt::format("changed ({}): {}", texts.questions.size(), FirstFew(texts.questions, kNamesShown)));
  return check;
}

std::optional<record::Check> JudgeReproducibility(const record::CellRecord& cell) {
  constexpr size_t kShown = 3;
  if (!cell.reproducibility) return std::nullopt;
  const record::ReproducibilityRecord& seen = *cell.reproducibility;
  record::Check check = MakeCheck(cell, "reproducibility", "seeded_answers", "reproducibility");
  const auto different = static_cast<int64_t>(seen.differences.size());
  check.direction = record::Direction::kLowerIsBetter;
  check.value = static_cast<double>(different);
  check.reference = 0;
  check.samples = seen.requests;
  if (!seen.complete || seen.failed > 0) {
    check.outcome = record::Outcome::kInvalid;
    check.reason = seen.complete ? fmt::format("{} of {} requests failed", seen.failed, seen.requests)
                                 : "not all requests were asked twice";
    return check;
  }
  if (different == 0) {
    check.reason = fmt::format("{} seeded requests got the same text alone and all at once", seen.requests);
    return check;
  }
  check.outcome = record::Outcome::kFail;
  check.reason = fmt::format(
      "{} of {} seeded requests got another text beside others than alone, and the config says that this "
      "server does not do that",
      different, seen.requests);
  check.details.assign(seen.differences.begin(),
                       seen.differences.begin() + std::min<long>(different, kShown));
  return check;
}

}  // namespace assay::gate
