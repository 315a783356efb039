#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/verdict.h"

namespace assay::runner {

// Decisions on runs that differ in nothing.
struct EqualArmsTally {
  int64_t pass = 0, inconclusive = 0, invalid = 0, fail = 0, infrastructure = 0;
  std::vector<std::string> false_alarms;  // "decision 17: FAIL: 64-16 ttft_p50_ms +12 %; ..."
  int64_t Decisions() const { return pass + inconclusive + invalid + fail + infrastructure; }
};

void Add(const record::Verdict& verdict, EqualArmsTally& tally);
std::string EqualArmsText(const EqualArmsTally& tally);
// One false FAIL is allowed in 200 decisions, and one in fewer.
int EqualArmsExitCode(const EqualArmsTally& tally);

}  // namespace assay::runner
