#include "record/noise_floor.h"

#include <gtest/gtest.h>

namespace assay::record {
namespace {

TEST(NoiseFloorOf, AgreesWithTheExampleOfEightPairs) {
  const NoiseFloor noise = NoiseFloorOf({.004, -.007, .011, -.003, .006, -.012, .002, -.005});
  EXPECT_EQ(noise.pairs, 8);
  EXPECT_NEAR(noise.sigma, 0.007106, 1e-6);
  EXPECT_NEAR(noise.floor, 0.016387, 1e-6);
  EXPECT_NEAR(noise.sigma_upper, 0.012159, 1e-6);
}

}  // namespace
}  // namespace assay::record
