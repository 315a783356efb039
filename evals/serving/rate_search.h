#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::evals {

struct RateSearch {
  double first = 1;         // requests/s of the first probe
  double most = 4096;       // not looked at above
  double precision = 0.05;  // relative, of the rate found
  int probes = 20;          // at most
};

struct RateProbe {
  double rate = 0;
  bool met = false;
  std::string why;     // what was measured, in words
  bool alone = false;  // no two requests were in flight at once: a lower rate would measure the same
};

// As many as a load of `rate` sends in `seconds`, but never fewer than a handful.
int64_t ProbePrompts(double rate, double seconds);

struct RateFound {
  std::optional<double> rate;  // the highest that met the limits; nullopt: none did
  bool limited = false;        // a higher one failed, so the server and not `most` set the limit
  std::vector<RateProbe> probes;
};

// Doubles the rate until a probe fails its limits (or halves it until one meets them), then closes in by
// geometric bisection. Ends without a rate when requests miss the limits even alone. Stops early when `probe`
// fails.
Result<RateFound> FindHighestRate(const RateSearch& search,
                                  const std::function<Result<RateProbe>(double rate)>& probe);

}  // namespace assay::evals
