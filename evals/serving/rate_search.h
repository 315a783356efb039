#pragma once

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
  std::string why;  // what was measured, in words
};

struct RateFound {
  std::optional<double> rate;  // the highest that met the limits; nullopt: none did
  bool limited = false;        // a higher one failed, so the server and not `most` set the limit
  std::vector<RateProbe> probes;
};

// Doubles the rate until a probe fails its limits (or halves it until one meets them), then closes in by
// geometric bisection. Stops early when `probe` fails.
Result<RateFound> FindHighestRate(const RateSearch& search,
                                  const std::function<Result<RateProbe>(double rate)>& probe);

}  // namespace assay::evals
