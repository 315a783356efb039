#pragma once

#include <vector>

#include "gate/judge.h"

namespace assay::runner {

// Whether later runs may be compared with one that was judged so. A passing run that is significantly slower,
// though not by a proven margin, is not: the baseline must not follow a loss. One that only varies as runs do
// is, up to the noise floor where that is known: taking the fast ones alone would raise the bar by chance.
bool MayBecomeBaseline(const std::vector<gate::CellPolicy>& policies, const record::Verdict& verdict);

}  // namespace assay::runner
