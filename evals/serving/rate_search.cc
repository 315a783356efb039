#include "evals/serving/rate_search.h"

#include <algorithm>
#include <cmath>

namespace assay::evals {
namespace {

constexpr double kDeepest = 1.0 / 1024;  // of the first rate

constexpr int64_t kFewestPrompts = 5;

}  // namespace

int64_t ProbePrompts(double rate, double seconds) {
  return std::max(kFewestPrompts, static_cast<int64_t>(std::ceil(rate * seconds)));
}

Result<RateFound> FindHighestRate(const RateSearch& search,
                                  const std::function<Result<RateProbe>(double rate)>& probe) {
  RateFound found;
  double failed = 0;  // the lowest rate that failed
  const auto left = [&] { return static_cast<int>(found.probes.size()) < search.probes; };
  double rate = std::min(search.first, search.most);
  for (;;) {
    ASSIGN_OR_RETURN(RateProbe result, probe(rate));
    const bool met = result.met, alone = result.alone;
    found.probes.push_back(std::move(result));
    if (met)
      found.rate = std::max(found.rate.value_or(0), rate);
    else
      failed = failed == 0 ? rate : std::min(failed, rate);
    found.limited = failed > 0;
    if (!left()) return found;

    if (!found.limited) {
      if (rate >= search.most) return found;
      rate = std::min(rate * 2, search.most);
    } else if (!found.rate) {
      if (alone || failed <= search.first * kDeepest) return found;
      rate = failed / 2;
    } else {
      if (failed / *found.rate <= 1 + search.precision) return found;
      rate = std::sqrt(failed * *found.rate);
    }
  }
}

}  // namespace assay::evals
