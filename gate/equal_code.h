#pragma once

#include <string_view>
#include <vector>

#include "gate/judge.h"

// Runs of one code differ by noise alone. A nightly that measured the same commit twice, or a merge that was
// run again, leaves such pairs in the store without anybody asking for them.
namespace assay::gate {

// Fewer pairs measure no floor: Student's factor would be above 4.
inline constexpr int kLeastPairs = 3;

using EqualRuns = std::vector<const record::CellRecord*>;

// Of the stored runs, those of one commit with fingerprints equal in every field, in lists of two or more.
// What differs from `ours` in a field that breaks speed (driver, flags, machine), or is older than
// `noise_floor_days` at the time `now` (UTC), is left out.
std::vector<EqualRuns> FindEqualRuns(const record::CellRecord& ours, const CellPolicy& policy,
                                     std::string_view now);

}  // namespace assay::gate
