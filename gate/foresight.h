#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "gate/judge.h"
#include "gate/policy.h"
#include "record/run_record.h"
#include "record/verdict.h"

// What a part of an accuracy eval, asked in random order, says of the verdict on the whole of it. Asking may
// end where that verdict would come out otherwise in at most `error` of all orders, each way; over all looks
// together (record/sequential.h).
namespace assay::gate {

// After so many samples of `planned` it is looked: 39 equal steps, the last of them before the end.
std::vector<int64_t> Looks(int64_t planned);

// The least number of right samples of n with which threshold and broken line pass; n + 1 when none is.
int64_t PassingCount(const ThresholdPolicy& policy, int64_t n);

enum class Foreseen { kOpen, kPass, kFail };

class Foresight {
 public:
  // `sequential` has the looks and the error; `planned` is the number of all samples.
  Foresight(int64_t planned, const record::Sequential& sequential);

  // The score of all samples is fixed but unknown, and the part is a draw without replacement from it: exact,
  // whatever questions have in common. kOpen unless the part ends at a look.
  Foreseen Threshold(const record::AccuracyRecord& part, const ThresholdPolicy& policy) const;
  // Against the baseline's answers to the same samples, by the normal law.
  Foreseen Paired(const record::AccuracyRecord& part, const record::AccuracyRecord& baseline,
                  const AccuracyPolicy& policy) const;

 private:
  struct CountLimits {
    std::vector<int64_t> right, wrong;  // so many pass or fail
  };
  std::optional<size_t> LookAfter(size_t samples) const;
  const CountLimits& LimitsFor(int64_t passing) const;
  const std::vector<double>& Bounds() const;

  int64_t planned_;
  std::vector<int64_t> looks_;
  std::vector<double> spent_;
  // Worked out when first needed: they take a moment.
  mutable std::map<int64_t, CountLimits> limits_;
  mutable std::vector<double> bounds_;
};

// Whether asking may end: one of the rules fails, or all that there are pass. `cell` holds the part that
// `foresight` was made for.
bool IsDecided(const record::CellRecord& cell, const CellPolicy& policy, const Foresight& foresight);

// The checks of an eval that ended early. `baseline` may be null.
std::vector<record::Check> JudgeStopped(const record::CellRecord& cell, const CellPolicy& policy,
                                        const record::CellRecord* baseline);

// The mean difference in score over the samples of both, ours minus theirs, and what it says of all samples.
struct PartDifference {
  int64_t samples = 0, lost = 0, won = 0;
  double mean = 0;
  double deviation = 0;    // of one sample's difference
  double whole_error = 0;  // the standard error that the whole eval will have, questions as clusters
};
PartDifference DifferenceOfPart(const record::AccuracyRecord& part, const record::AccuracyRecord& baseline,
                                int64_t planned);

}  // namespace assay::gate
