#include "record/prediction.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::record {
namespace {

// Eight equal-arm log ratios measured on one machine.
TEST(PredictionHalfWidth, AgreesWithTheNoiseFloorExample) {
  EXPECT_NEAR(PredictionHalfWidth({.004, -.007, .011, -.003, .006, -.012, .002, -.005}), 0.019007, 1e-6);
}

// Two-sided p of no change is below 0.05 just where the 95 % interval leaves zero out.
TEST(PValueAbove, AgreesWithTheInterval) {
  const RunChange change{.mean = 0.03, .standard_error = 0.01, .degrees_of_freedom = 9};
  EXPECT_NEAR(PValueAbove(change, 0.03 - 0.01 * 2.262157), 0.025, 1e-6);
  EXPECT_NEAR(PValueAbove(change, 0.03), 0.5, 1e-12);
  const RunChange exact{.mean = 0.03, .standard_error = 0, .degrees_of_freedom = 2};
  EXPECT_EQ(PValueAbove(exact, 0.02), 0);
  EXPECT_EQ(PValueAbove(exact, 0.04), 1);
}

TEST(ChangeAgainstRuns, IsPositiveWhenWorse) {
  const std::vector<double> baseline = {100, 101, 99};
  EXPECT_GT(ChangeAgainstRuns(90, baseline, /*higher_is_better=*/true).mean, 0);
  EXPECT_LT(ChangeAgainstRuns(90, baseline, /*higher_is_better=*/false).mean, 0);
}

TEST(ChangeAgainstRuns, IntervalIsTheStudentPredictionOfOneMoreRun) {
  // Logs 0, 0.01, 0.02: mean 0.01, sd 0.01; t(0.975, 2) = 4.302653; sqrt(1 + 1/3) = 1.154701.
  const RunChange change = ChangeAgainstRuns(std::exp(0.05), {1, std::exp(0.01), std::exp(0.02)}, false);
  EXPECT_NEAR(change.mean, 0.04, 1e-9);
  EXPECT_NEAR(change.noise, 0.0496827, 1e-6);
  EXPECT_NEAR(change.low, 0.04 - 0.0496827, 1e-6);
  EXPECT_NEAR(change.high, 0.04 + 0.0496827, 1e-6);
}

}  // namespace
}  // namespace assay::record
