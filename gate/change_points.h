#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Where a series changed its level: E-divisive (Matteson and James, "A Nonparametric Approach for Multiple
// Change Point Analysis of Multivariate Data", 2014) for one variable, as Hunter and Otava use it.
namespace assay::gate {

// Q(tau) for tau = 1..n-1: nm/(n+m) (2/(nm) sum|x-y| - mean |x-x'| - mean |y-y'|) between the first tau
// values and the rest, where a single value has no distance to itself.
std::vector<double> SplitStatistics(const std::vector<double>& values);

struct ChangePointRule {
  bool relative = true;    // levels are compared by their ratio; false: by their difference
  double min_change = 0;   // of the level, as a ratio minus one or as a difference; a smaller one is noise
  double p_value = 0.001;  // of the largest Q, by permutation
  size_t window = 50;      // values that are looked at together
  size_t min_points = 5;   // on either side
  int permutations = 1999;
  uint64_t seed = 1;
};

struct ChangePoint {
  size_t index = 0;  // of the first value of the new level
  double q = 0;
  double p_value = 1;
  double before = 0, after = 0;  // levels: means (of the logarithms where relative) up to the next change
  double change = 0;             // after / before - 1, or after - before
};

// Oldest first. With `relative` every value must be positive.
std::vector<ChangePoint> FindChangePoints(const std::vector<double>& values, const ChangePointRule& rule);

}  // namespace assay::gate
