#pragma once

#include <cstdint>

// Two scores, k of n each, of which nothing else is known: the weakest comparison there is.
namespace assay::record {

struct TwoScores {
  int64_t correct = 0, samples = 0;            // candidate
  int64_t base_correct = 0, base_samples = 0;  // baseline
};

struct UnpairedDifference {
  double mean = 0;            // candidate minus baseline
  double standard_error = 0;  // unpooled, for intervals
  double z = 0;               // pooled, for the test that nothing changed
  double p_two_sided = 1;
  double p_loss = 1;  // one-sided: evidence of a loss
};
// Both samples > 0. Scores of 0 or 1 on both sides have a standard error of 0 and a z of 0.
UnpairedDifference CompareScores(const TwoScores& scores);

// The loss that such a comparison finds with this power (one-sided alpha), at the pooled score.
double UnpairedMde(const TwoScores& scores, double alpha, double power);

}  // namespace assay::record
