#pragma once

#include "base/result.h"
#include "tokenizer/definition.h"
#include "tokenizer/tokenizer_file.h"

namespace assay::tokenizer {

// What must hold between the added tokens, the vocabulary and the merges.
Status CheckConsistency(const TokenizerFile& file, const Definition& definition);

}  // namespace assay::tokenizer
