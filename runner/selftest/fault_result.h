#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/verdict.h"
#include "runner/selftest/corpus.h"

namespace assay::runner {

// What became of one planted fault.
struct FaultResult {
  std::string name = {}, what = {};
  std::string effect = {};          // "-37.5 points", "+4.8 % tpot_p50_ms", "wrong_model: ..."
  std::optional<double> size = {};  // of the effect, worse is positive; none: a failure
  std::optional<double> mde = {};   // the smallest size that is noticed four times in five
  std::string mde_text = {};        // "" for a failure: any is noticed
  std::string caught_by = {};       // checks that made the verdict red
  bool red = false;                 // FAIL, INVALID or INFRASTRUCTURE
  bool right_reason = false;
  int64_t samples = 0;  // answers it took
  double seconds = 0;
};

enum class Standing {
  kMissed,       // larger than what must be noticed, and the verdict is green
  kWrongReason,  // red, but for another reason
  kBelowMde,     // green, and no larger than what may escape
  kCaught,
};
Standing StandingOf(const FaultResult& result);
const char* Name(Standing standing);

// The verdict is red for nothing but the machine's own pace, which is no fault of the engine.
bool SaysOnlyThatThePaceDiffers(const record::Verdict& verdict);

// Reads a verdict on a run with this fault. `score_mde` is that of the score (see smallest_loss.h).
FaultResult ReadVerdict(const record::Verdict& verdict, const CorpusEntry& entry,
                        std::optional<double> score_mde);

}  // namespace assay::runner
