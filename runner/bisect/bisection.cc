#include "runner/bisect/bisection.h"

#include "base/check.h"

namespace assay::runner {

Bisection::Bisection(size_t commits, int pairs, int widenings)
    : commits_(commits),
      first_pairs_(pairs),
      widenings_(widenings),
      accused_(commits - 1),
      left_open_(commits) {
  CHECK(commits > 0);
}

// The open commit nearest to the middle; the accused one when none is open.
size_t Bisection::Nearest() const {
  const size_t middle = first_open_ + (accused_ - first_open_) / 2;
  for (size_t distance = 0; distance <= accused_ - first_open_; ++distance) {
    if (middle + distance < accused_ && !left_open_[middle + distance]) return middle + distance;
    if (middle >= first_open_ + distance && middle - distance < accused_ && !left_open_[middle - distance])
      return middle - distance;
  }
  return accused_;
}

std::optional<BisectStep> Bisection::Next() const {
  if (ended_) return std::nullopt;
  const int pairs = first_pairs_ << asked_again_;
  if (!confirmed_) return BisectStep{commits_ - 1, pairs};
  const size_t next = Nearest();
  return next == accused_ ? std::nullopt : std::optional(BisectStep{next, pairs});
}

void Bisection::Report(StepAnswer answer) {
  const auto step = Next();
  CHECK(step.has_value());
  if (answer == StepAnswer::kInconclusive && asked_again_ < widenings_) {
    ++asked_again_;
    return;
  }
  asked_again_ = 0;
  if (!confirmed_) {
    confirmed_ = answer == StepAnswer::kFail;
    ended_ = !confirmed_;
  } else if (answer == StepAnswer::kPass) {
    first_open_ = step->commit + 1;
  } else if (answer == StepAnswer::kFail) {
    accused_ = step->commit;
  } else {
    left_open_[step->commit] = true;
  }
}

std::vector<size_t> Bisection::Suspects() const {
  std::vector<size_t> suspects;
  for (size_t commit = first_open_; confirmed_ && commit <= accused_; ++commit) suspects.push_back(commit);
  return suspects;
}

}  // namespace assay::runner
