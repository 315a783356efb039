#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace assay::tokenizer {

// Characters that have a general category in Unicode 16, which Hugging Face tokenizers 0.23 uses, and none or
// another in the Unicode 14 of PCRE2 10.42.
struct UnicodeAddition {
  std::string_view category;  // two letters
  uint32_t first, last;
};

std::span<const UnicodeAddition> UnicodeAdditions();

}  // namespace assay::tokenizer
