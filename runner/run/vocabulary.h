#pragma once

#include "base/result.h"
#include "runner/plan/plan.h"

namespace assay::runner {

// Tells each eval with random prompts which token ids they may draw from: the tokenizer's when it is
// on this machine, else what the config says (vocab_size). kUsage when neither is known.
Status FillVocabulary(Cell& cell);

}  // namespace assay::runner
