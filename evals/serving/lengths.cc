#include "evals/serving/lengths.h"

#include <algorithm>
#include <cmath>

namespace assay::evals {

LengthRange SpreadLength(int64_t length, double range_ratio, std::string_view convention) {
  const auto l = static_cast<double>(length);
  if (convention == "sglang")
    return {std::max<int64_t>(1, static_cast<int64_t>(std::floor(l * range_ratio))), length};
  return {static_cast<int64_t>(std::floor(l * (1 - range_ratio))),
          static_cast<int64_t>(std::ceil(l * (1 + range_ratio)))};
}

int64_t DrawLength(SplitMix64& random, const LengthRange& range) {
  const int64_t least = std::max<int64_t>(1, range.least);
  const int64_t most = std::max(least, range.most);
  return least + static_cast<int64_t>(random.Below(static_cast<uint64_t>(most - least + 1)));
}

}  // namespace assay::evals
