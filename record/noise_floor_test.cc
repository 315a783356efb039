#include "record/noise_floor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::record {
namespace {

TEST(NoiseFloorOf, AgreesWithTheExampleOfEightPairs) {
  const NoiseFloor noise = NoiseFloorOf({.004, -.007, .011, -.003, .006, -.012, .002, -.005});
  EXPECT_EQ(noise.pairs, 8);
  EXPECT_NEAR(noise.sigma, 0.007106, 1e-6);
  EXPECT_NEAR(noise.floor, 0.016387, 1e-6);
  EXPECT_NEAR(noise.sigma_upper, 0.012159, 1e-6);
}

TEST(EqualCodeLogRatios, OfTwoRunsIsTheirLogRatio) {
  const std::vector<double> ratios = EqualCodeLogRatios({{100, 101}, {}, {50}, {200, 198}});
  ASSERT_EQ(ratios.size(), 2u);
  EXPECT_NEAR(std::abs(ratios[0]), std::log(1.01), 1e-12);
  EXPECT_NEAR(std::abs(ratios[1]), std::log(200.0 / 198), 1e-12);
}

// r runs have r - 1 of them, whose squares sum to twice the squares around the mean: the variance of a ratio
// is twice that of a run.
TEST(EqualCodeLogRatios, OfManyRunsHaveTheirVariance) {
  const std::vector<double> ratios = EqualCodeLogRatios({{std::exp(0.0), std::exp(0.03), std::exp(0.06)}});
  ASSERT_EQ(ratios.size(), 2u);
  EXPECT_NEAR(ratios[0] * ratios[0] + ratios[1] * ratios[1], 2 * (0.03 * 0.03 + 0.03 * 0.03), 1e-12);
}

}  // namespace
}  // namespace assay::record
