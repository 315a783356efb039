#pragma once

#include <cstdint>
#include <string_view>

#include "evals/serving/random.h"

namespace assay::evals {

// The least and the most tokens of a length that is spread by a range ratio r. Tools mean different things by
// it, so the convention has a name:
//   vllm    [floor(L (1 - r)), ceil(L (1 + r))], r in [0, 1): 0 is exactly L
//   sglang  [max(1, floor(L r)), L],             r in [0, 1]: 1 is exactly L, 0 anything up to L
struct LengthRange {
  int64_t least = 0, most = 0;
};
LengthRange SpreadLength(int64_t length, double range_ratio, std::string_view convention);

// Uniform over the range, at least 1.
int64_t DrawLength(SplitMix64& random, const LengthRange& range);

}  // namespace assay::evals
