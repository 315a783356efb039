#include "record/paired.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "record/distributions.h"
#include "record/statistics.h"

namespace assay::record {

McNemar McNemarExact(const DiscordantPairs& pairs) {
  const int64_t discordant = pairs.broken + pairs.fixed;
  if (discordant == 0) return {};
  const int64_t smaller = std::min(pairs.broken, pairs.fixed);
  const double tail = 2 * BinomialCdf(smaller, discordant, 0.5);
  return {
      .one_sided = 1 - BinomialCdf(pairs.broken - 1, discordant, 0.5),
      .two_sided = std::min(1.0, tail),
      .mid_p = std::min(1.0, tail - BinomialPdf(smaller, discordant, 0.5)),
  };
}

Difference PairedDifference(const DiscordantPairs& pairs) {
  CHECK_GT(pairs.questions, 0);
  const auto n = static_cast<double>(pairs.questions);
  const auto discordant = static_cast<double>(pairs.broken + pairs.fixed);
  const auto net = static_cast<double>(pairs.fixed - pairs.broken);
  return {net / n, std::sqrt(discordant - net * net / n) / n};
}

Difference ClusteredDifference(const std::vector<double>& differences) {
  return {Mean(differences), SampleStddev(differences) / std::sqrt(static_cast<double>(differences.size()))};
}

double PairedMde(double discordant_share, double questions, double alpha, double power) {
  CHECK_GT(questions, 0.0);
  const double z_alpha = NormalQuantile(1 - alpha), z_power = NormalQuantile(power);
  const double a = z_alpha * std::sqrt(discordant_share);
  // delta sqrt(N) - a = z_power sqrt(D - delta^2), squared: a quadratic in delta with one root at or above a.
  const double square = questions + z_power * z_power;
  const double linear = -2 * a * std::sqrt(questions);
  const double constant = a * a - z_power * z_power * discordant_share;
  return (-linear + std::sqrt(linear * linear - 4 * square * constant)) / (2 * square);
}

double MdeFromStandardError(double standard_error, double alpha, double power) {
  return (NormalQuantile(1 - alpha) + NormalQuantile(power)) * standard_error;
}

}  // namespace assay::record
