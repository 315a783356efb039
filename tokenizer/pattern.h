#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::tokenizer {

// The pattern of a Split pre-tokenizer, written for Oniguruma, as a PCRE2 pattern that matches the same.
// What the two engines read differently is rewritten (\s, general categories of newer characters, \v, \u) or
// refused: anchors, scripts, word characters, nested classes, back references, "{2}+". A group repeated
// without bound is refused too, because only such patterns can backtrack exponentially.
Result<std::string> TranslatePattern(std::string_view pattern);

}  // namespace assay::tokenizer
