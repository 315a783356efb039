#include "record/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::record {
namespace {

constexpr double kTolerance = 1e-6;

TEST(NormalQuantile, AgreesWithTables) {
  const struct {
    double p, z;
  } cases[] = {{0.8, 0.841621},   {0.9, 1.281552},  {0.95, 1.644854},  {0.975, 1.959964},
               {0.977, 1.995393}, {0.99, 2.326348}, {0.995, 2.575829}, {0.999, 3.090232}};
  for (const auto& c : cases) EXPECT_NEAR(NormalQuantile(c.p), c.z, kTolerance) << c.p;
}

TEST(StudentQuantile, AgreesWithTables) {
  const struct {
    double p, degrees, t;
  } cases[] = {{0.975, 4, 2.776445}, {0.975, 5, 2.570582},  {0.95, 5, 2.015048},
               {0.975, 7, 2.364624}, {0.975, 8, 2.306004},  {0.975, 9, 2.262157},
               {0.95, 9, 1.833113},  {0.975, 24, 2.063899}, {0.977, 24, 2.104415}};
  for (const auto& c : cases) EXPECT_NEAR(StudentQuantile(c.p, c.degrees), c.t, kTolerance) << c.p;
}

// A t test of ten values finds a mean of one standard deviation with a power of 0.8030962 (R, pwr.t.test).
TEST(StudentShiftForPower, IsTheNoncentralityOfT) {
  EXPECT_NEAR(StudentShiftForPower(2.262157, 9, 0.8030962), std::sqrt(10), 1e-4);
  EXPECT_NEAR(StudentShiftForPower(1.959964, 1e6, 0.8), 1.959964 + 0.841621, 1e-4);
}

TEST(StudentCdf, IsTheInverseOfItsQuantile) {
  EXPECT_NEAR(StudentCdf(2.262157, 9), 0.975, kTolerance);
  EXPECT_NEAR(StudentCdf(-1.197830, 3), 0.316991 / 2, kTolerance) << "of the four published score pairs";
}

TEST(ChiSquaredQuantile, AgreesWithTables) {
  EXPECT_NEAR(ChiSquaredQuantile(0.05, 8), 2.732637, kTolerance);
  EXPECT_NEAR(ChiSquaredQuantile(0.025, 7), 1.689869, kTolerance);
  EXPECT_NEAR(ChiSquaredQuantile(0.975, 7), 16.012764, kTolerance);
  EXPECT_NEAR(ChiSquaredQuantile(0.95, 1), 3.841459, kTolerance);
}

TEST(IncompleteBeta, HoldsForSmallAndLargeParameters) {
  EXPECT_NEAR(IncompleteBeta(0.4, 2, 3), 0.524800, kTolerance);
  EXPECT_NEAR(IncompleteBeta(0.56, 888, 697), 0.491116, kTolerance);
}

TEST(BinomialCdf, AgreesWithTables) {
  EXPECT_NEAR(BinomialCdf(9, 29, 0.5), 0.030714, kTolerance);
  EXPECT_NEAR(BinomialCdf(4, 14, 0.5), 0.089783, kTolerance);
  EXPECT_EQ(BinomialCdf(-1, 14, 0.5), 0);
  EXPECT_EQ(BinomialCdf(14, 14, 0.5), 1);
}

// P(X <= k) of the published scores, 1584 samples, against a true score of 0.568.
TEST(BinomialCdf, AgreesWithThePublishedScores) {
  const struct {
    int64_t k;
    double p;
  } cases[] = {{909, 0.689909}, {887, 0.267589}, {903, 0.575746}, {907, 0.653226},
               {881, 0.177761}, {886, 0.251184}, {904, 0.595520}, {876, 0.119604}};
  for (const auto& c : cases) EXPECT_NEAR(BinomialCdf(c.k, 1584, 0.568), c.p, kTolerance) << c.k;
}

// The least k that reaches q, by adding up.
TEST(BinomialQuantile, IsTheLeastThatReaches) {
  for (const int64_t n : {1, 2, 10, 200, 1000}) {
    for (const double p : {0.01, 0.5, 0.9, 0.99}) {
      for (const double q : {0.005, 0.025, 0.5, 0.975, 0.995}) {
        int64_t k = 0;
        while (BinomialCdf(k, n, p) < q) ++k;
        EXPECT_EQ(BinomialQuantile(q, n, p), k) << n << " " << p << " " << q;
      }
    }
  }
}

}  // namespace
}  // namespace assay::record
