#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "tokenizer/added_tokens.h"

namespace assay::tokenizer {

// What a tokenizer.json asks for beside its vocabulary and merges.
struct Definition {
  bool ignore_merges = false;
  std::vector<std::string> patterns;  // the text is split by each in turn
  std::vector<AddedToken> added_tokens;
};

// `rest` of a TokenizerFile. Any part that we would not do exactly as Hugging Face tokenizers does is an
// error that names it.
Result<Definition> ReadDefinition(const nlohmann::json& rest);

}  // namespace assay::tokenizer
