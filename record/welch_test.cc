#include "record/welch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "record/statistics.h"

namespace assay::record {
namespace {

constexpr double kTolerance = 1e-6;

// Reference values: scipy 1.10.
TEST(Welch, AgreesWithTheTwoSets) {
  const WelchTest five =
      Welch(Logs({100.2, 101.5, 99.8, 100.9, 100.4}), Logs({97.1, 98.4, 96.9, 97.7, 98.0}));
  EXPECT_NEAR(five.difference, -0.029671, kTolerance);
  EXPECT_NEAR(std::exp(five.difference), 0.970765, kTolerance);
  EXPECT_NEAR(five.standard_error, 0.004083, kTolerance);
  EXPECT_NEAR(five.degrees_of_freedom, 7.994823, kTolerance);
  EXPECT_NEAR(five.t, -7.267883, kTolerance);
  EXPECT_NEAR(five.p_two_sided, 8.682e-05, 1e-8);
  EXPECT_NEAR(std::exp(five.low), 0.961667, kTolerance);
  EXPECT_NEAR(std::exp(five.high), 0.979948, kTolerance);
  const WelchTest six =
      Welch({389.9, 391.0, 388.7, 392.1, 390.5, 387.6}, {392.6, 395.1, 390.8, 393.9, 391.2, 394.4});
  EXPECT_NEAR(six.t, 3.110316, kTolerance);
  EXPECT_NEAR(six.p_two_sided, 0.011138, kTolerance);
}

TEST(Welch, OfArmsWithoutSpreadKnowsOnlyEqualAndUnequal) {
  EXPECT_EQ(Welch({2, 2}, {2, 2}).p_two_sided, 1);
  EXPECT_EQ(Welch({2, 2}, {3, 3}).p_two_sided, 0);
}

}  // namespace
}  // namespace assay::record
