#pragma once

#include <cstdint>
#include <vector>

// Two runs over the same questions: only the questions that changed say anything.
namespace assay::record {

// One sample a question.
struct DiscordantPairs {
  int64_t questions = 0;
  int64_t broken = 0;  // baseline right, candidate wrong
  int64_t fixed = 0;   // baseline wrong, candidate right
};

// McNemar's test, exact: under no change each discordant pair is a fair coin.
struct McNemar {
  double one_sided = 1;  // P(at least so many broken): evidence of a loss
  double two_sided = 1;
  double mid_p = 1;  // two-sided, for display
};
McNemar McNemarExact(const DiscordantPairs& pairs);

// A mean difference in score, candidate minus baseline, and its standard error.
struct Difference {
  double mean = 0;
  double standard_error = 0;
};
Difference PairedDifference(const DiscordantPairs& pairs);
// Several samples a question: `differences` has one entry a question, the difference of its two shares
// correct. Questions are the clusters, so repeats are not taken for independent. Needs two questions.
Difference ClusteredDifference(const std::vector<double>& differences);

// The loss that the paired test finds with this power: solves
// delta sqrt(N) = z_alpha sqrt(D) + z_power sqrt(D - delta^2) for D, the share of discordant questions.
double PairedMde(double discordant_share, double questions, double alpha, double power);
// The same from a standard error, for clustered differences.
double MdeFromStandardError(double standard_error, double alpha, double power);

}  // namespace assay::record
