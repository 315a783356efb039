#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace assay::tokenizer {

// A tokenizer.json as read. The two long parts never become JSON values: a 200,000-token vocabulary has some
// 450,000 merges.
struct TokenizerFile {
  std::vector<std::pair<std::string, int32_t>> vocabulary;  // model.vocab, in byte-alphabet characters
  std::vector<std::pair<std::string, std::string>> merges;  // model.merges, in order of rank
  nlohmann::json rest;                                      // everything else
};

// Error texts name the part, not the file.
Result<TokenizerFile> ParseTokenizerFile(std::string_view text);

}  // namespace assay::tokenizer
