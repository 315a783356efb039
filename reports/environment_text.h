#pragma once

#include <string>

#include "record/run_record.h"
#include "reports/say.h"

namespace assay::reports {

// A field of a fingerprint as people read it: hashes by their first digits, what is not known as "unknown".
std::string ShownField(const Say& say, const std::string& field);

// What a difference means for the comparison.
std::string EffectOf(const Say& say, const record::FingerprintDifference& difference);

}  // namespace assay::reports
