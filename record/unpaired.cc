#include "record/unpaired.h"

#include <cmath>

#include "base/check.h"
#include "record/distributions.h"

namespace assay::record {
namespace {

double PooledError(const TwoScores& s) {
  const auto n = static_cast<double>(s.samples), m = static_cast<double>(s.base_samples);
  const double p = static_cast<double>(s.correct + s.base_correct) / (n + m);
  return std::sqrt(p * (1 - p) * (1 / n + 1 / m));
}

double UpperTail(double z) {
  return std::erfc(z / std::sqrt(2.0)) / 2;
}

}  // namespace

UnpairedDifference CompareScores(const TwoScores& s) {
  CHECK_GT(s.samples, 0);
  CHECK_GT(s.base_samples, 0);
  const auto n = static_cast<double>(s.samples), m = static_cast<double>(s.base_samples);
  const double ours = static_cast<double>(s.correct) / n, theirs = static_cast<double>(s.base_correct) / m;
  UnpairedDifference difference;
  difference.mean = ours - theirs;
  difference.standard_error = std::sqrt(ours * (1 - ours) / n + theirs * (1 - theirs) / m);
  const double pooled = PooledError(s);
  difference.z = pooled > 0 ? difference.mean / pooled : 0;
  difference.p_two_sided = 2 * UpperTail(std::abs(difference.z));
  difference.p_loss = UpperTail(-difference.z);
  return difference;
}

double UnpairedMde(const TwoScores& scores, double alpha, double power) {
  return (NormalQuantile(1 - alpha) + NormalQuantile(power)) * PooledError(scores);
}

}  // namespace assay::record
