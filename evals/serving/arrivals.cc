#include <cmath>

#include "evals/serving/random.h"
#include "evals/serving/serving.h"

namespace assay::evals {

// vLLM fixes the total time: the gaps are scaled so that the last request is due at n / rate whatever the
// seed.
std::vector<double> PlanArrivals(int64_t n, double rate, double burstiness, uint64_t seed) {
  std::vector<double> arrivals(static_cast<size_t>(n), 0.0);
  if (n == 0 || rate <= 0) return arrivals;

  SplitMix64 random{seed, NameKey("arrivals")};
  double at = 0;
  for (double& arrival : arrivals) {
    at += std::isinf(burstiness) ? 1 : random.Gamma(burstiness);
    arrival = at;
  }
  const double last = static_cast<double>(n) / rate;
  for (double& arrival : arrivals) arrival *= last / at;
  return arrivals;
}

}  // namespace assay::evals
