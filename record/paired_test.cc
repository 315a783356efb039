#include "record/paired.h"

#include <gtest/gtest.h>

#include <cmath>

#include "record/distributions.h"

namespace assay::record {
namespace {

constexpr double kTolerance = 1e-6;

TEST(McNemarExact, AgreesWithKnownAnswers) {
  const struct {
    int64_t broken, fixed;
    double two_sided, one_sided, mid_p;
  } cases[] = {
      {5, 0, 0.062500, 0.031250, 0.031250},   {6, 0, 0.031250, 0.015625, 0.015625},
      {8, 1, 0.039062, 0.019531, 0.021484},   {10, 4, 0.179565, 0.089783, 0.118469},
      {15, 5, 0.041389, 0.020695, 0.026604},  {20, 9, 0.061428, 0.030714, 0.042774},
      {25, 15, 0.153860, 0.076930, 0.117275}, {30, 12, 0.007916, 0.003958, 0.005402},
  };
  for (const auto& c : cases) {
    const McNemar p = McNemarExact({1000, c.broken, c.fixed});
    EXPECT_NEAR(p.two_sided, c.two_sided, kTolerance) << c.broken;
    EXPECT_NEAR(p.one_sided, c.one_sided, kTolerance) << c.broken;
    EXPECT_NEAR(p.mid_p, c.mid_p, kTolerance) << c.broken;
  }
}

TEST(McNemarExact, SaysNothingWhenNoQuestionChanged) {
  const McNemar p = McNemarExact({448, 0, 0});
  EXPECT_EQ(p.one_sided, 1);
  EXPECT_EQ(p.two_sided, 1);
}

TEST(McNemarExact, OneSidedIsNearOneForAnImprovement) {
  EXPECT_NEAR(McNemarExact({448, 0, 6}).one_sided, 1, kTolerance);
}

TEST(PairedDifference, AgreesWithKnownAnswers) {
  const struct {
    int64_t n, broken, fixed;
    double d, se, low, high;
  } cases[] = {
      {198, 20, 9, -0.055556, 0.026910, -0.108298, -0.002813},
      {448, 45, 20, -0.055804, 0.017802, -0.090695, -0.020912},
      {198, 10, 4, -0.030303, 0.018774, -0.067100, 0.006494},
  };
  for (const auto& c : cases) {
    const Difference d = PairedDifference({c.n, c.broken, c.fixed});
    const double half = NormalQuantile(0.975) * d.standard_error;
    EXPECT_NEAR(d.mean, c.d, kTolerance) << c.broken;
    EXPECT_NEAR(d.standard_error, c.se, kTolerance) << c.broken;
    EXPECT_NEAR(d.mean - half, c.low, kTolerance) << c.broken;
    EXPECT_NEAR(d.mean + half, c.high, kTolerance) << c.broken;
  }
}

// (questions, broken, fixed, margin) -> lower one-sided 95 % bound, z and p of "not worse by the margin".
TEST(PairedDifference, GivesTheNonInferiorityBounds) {
  const struct {
    int64_t n, broken, fixed;
    double margin, low, z, p;
  } cases[] = {
      {198, 10, 9, 0.03, -0.041257, 1.133464, 0.128510},   {198, 20, 9, 0.03, -0.099818, -0.949678, 0.828862},
      {198, 10, 4, 0.05, -0.061184, 1.049154, 0.147054},   {448, 20, 18, 0.02, -0.027095, 1.129194, 0.129408},
      {1584, 70, 64, 0.02, -0.015807, 2.218602, 0.013257},
  };
  for (const auto& c : cases) {
    const Difference d = PairedDifference({c.n, c.broken, c.fixed});
    const double z = (d.mean + c.margin) / d.standard_error;
    EXPECT_NEAR(d.mean - NormalQuantile(0.95) * d.standard_error, c.low, kTolerance) << c.broken;
    EXPECT_NEAR(z, c.z, kTolerance) << c.broken;
    EXPECT_NEAR(1 - NormalCdf(z), c.p, kTolerance) << c.broken;
  }
}

TEST(ClusteredDifference, TakesTheQuestionAsTheCluster) {
  // Right answers of 4 by question: main 4,3,2,1,0, change 4,2,2,0,0.
  const Difference d = ClusteredDifference({0, -0.25, 0, -0.25, 0});
  EXPECT_NEAR(d.mean, -0.1, kTolerance);
  EXPECT_NEAR(d.standard_error, 0.061237, kTolerance);
}

TEST(PairedMde, AgreesWithKnownAnswers) {
  const struct {
    double discordant, n, one_sided, two_sided;
  } cases[] = {
      {0.05, 198, 0.039304, 0.044256}, {0.10, 198, 0.055585, 0.062587}, {0.20, 198, 0.078609, 0.088511},
      {0.30, 198, 0.096276, 0.108404}, {0.05, 448, 0.026207, 0.029519}, {0.10, 448, 0.037062, 0.041747},
      {0.20, 448, 0.052414, 0.059039}, {0.30, 448, 0.064194, 0.072307},
  };
  for (const auto& c : cases) {
    EXPECT_NEAR(PairedMde(c.discordant, c.n, 0.05, 0.8), c.one_sided, kTolerance) << c.discordant;
    EXPECT_NEAR(PairedMde(c.discordant, c.n, 0.025, 0.8), c.two_sided, kTolerance) << c.discordant;
  }
}

// 198 and 448 questions, 8 samples, score 0.56, intra-question correlation 0.6.
TEST(PairedMde, SaysHowManyQuestionsFindALoss) {
  struct {
    double loss, discordant;
    int one_sided, two_sided;
  } cases[] = {{0.01, 0.1, 6181, 7847},
               {0.02, 0.1, 1544, 1960},
               {0.03, 0.1, 685, 870},
               {0.05, 0.1, 246, 312},
               {0.05, 0.2, 493, 626}};
  for (const auto& c : cases) {
    EXPECT_LE(PairedMde(c.discordant, c.one_sided, 0.05, 0.8), c.loss) << c.one_sided;
    EXPECT_GT(PairedMde(c.discordant, c.one_sided - 1, 0.05, 0.8), c.loss) << c.one_sided;
    EXPECT_LE(PairedMde(c.discordant, c.two_sided, 0.025, 0.8), c.loss) << c.two_sided;
    EXPECT_GT(PairedMde(c.discordant, c.two_sided - 1, 0.025, 0.8), c.loss) << c.two_sided;
  }
}

// n runs an arm that vary by cv: the error of the difference of their means is cv sqrt(2 / n).
TEST(MdeFromStandardError, AgreesWithTheTableOfRuns) {
  struct {
    double cv, three, five, ten;
  } cases[] = {{0.01, 0.020302, 0.015726, 0.011120},
               {0.02, 0.040604, 0.031452, 0.022240},
               {0.03, 0.060906, 0.047178, 0.033360}};
  const auto mde = [](double cv, double n) { return MdeFromStandardError(cv * std::sqrt(2 / n), 0.05, 0.8); };
  for (const auto& c : cases) {
    EXPECT_NEAR(mde(c.cv, 3), c.three, kTolerance);
    EXPECT_NEAR(mde(c.cv, 5), c.five, kTolerance);
    EXPECT_NEAR(mde(c.cv, 10), c.ten, kTolerance);
  }
}

TEST(MdeFromStandardError, AgreesWithTheRepeatedSamplingTable) {
  const double variance = 2 * 0.56 * 0.44 * (1 - 0.6);
  EXPECT_NEAR(MdeFromStandardError(std::sqrt(variance / (198 * 8)), 0.05, 0.8), 0.027738, kTolerance);
  EXPECT_NEAR(MdeFromStandardError(std::sqrt(variance / (448 * 8)), 0.05, 0.8), 0.018440, kTolerance);
}

}  // namespace
}  // namespace assay::record
