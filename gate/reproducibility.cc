#include "gate/reproducibility.h"

#include <fmt/format.h>

#include <algorithm>

#include "gate/check.h"

namespace assay::gate {

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
