#pragma once

#include "gate/policy.h"
#include "record/run_record.h"
#include "record/verdict.h"

namespace assay::gate {

// Two arms whose runs alternate (record::AbRecord) at the look after the pairs that are whole: did the
// servers live, may each run and each pair be judged, are head's answers as good, is it as fast. Pure. All
// checks have the comparison's key as their cell (record/arms.h).
record::Verdict JudgeAb(const record::RunRecord& record, const Policy& policy);

// Whether more pairs would be measured in vain: something fails or is broken, or nothing is left undecided.
bool IsDecided(const record::Verdict& verdict);

}  // namespace assay::gate
