#include <cmath>

#include "evals/serving/random.h"
#include "evals/serving/serving.h"

namespace assay::evals {
namespace {

// Of mean 1.
double Gap(SplitMix64& random, double burstiness) {
  return std::isinf(burstiness) ? 1 : random.Gamma(burstiness) / burstiness;
}

}  // namespace

// vLLM fixes the total time: the gaps are scaled so that the last request is due at n / rate whatever the
// seed.
std::vector<double> PlanArrivals(int64_t n, double rate, double burstiness, uint64_t seed) {
  std::vector<double> arrivals(static_cast<size_t>(n), 0.0);
  if (n == 0 || rate <= 0) return arrivals;

  SplitMix64 random{seed, NameKey("arrivals")};
  double at = 0;
  for (double& arrival : arrivals) {
    at += Gap(random, burstiness);
    arrival = at;
  }
  const double last = static_cast<double>(n) / rate;
  for (double& arrival : arrivals) arrival *= last / at;
  return arrivals;
}

std::vector<double> PlanRampUp(int64_t n, bool exponential, double start, double end, double burstiness,
                               uint64_t seed) {
  std::vector<double> arrivals;
  SplitMix64 random{seed, NameKey("arrivals")};
  double at = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double part = n == 1 ? 0 : static_cast<double>(i) / static_cast<double>(n - 1);
    const double rate = exponential ? start * std::pow(end / start, part) : start + (end - start) * part;
    at += Gap(random, burstiness) / rate;
    arrivals.push_back(at);
  }
  return arrivals;
}

}  // namespace assay::evals
