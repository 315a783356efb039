#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "evals/serving/random.h"
#include "evals/serving/serving.h"

namespace assay::evals {
namespace {

TEST(PlanArrivals, SendsEverythingAtOnceWithoutARate) {
  EXPECT_THAT(PlanArrivals(3, 0, 1, 0), testing::ElementsAre(0, 0, 0));
  EXPECT_TRUE(PlanArrivals(0, 5, 1, 0).empty());
}

TEST(PlanArrivals, EndsAtNOverRateWhateverTheSeed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<double> arrivals = PlanArrivals(100, 8, 0.5, seed);
    EXPECT_NEAR(arrivals.back(), 12.5, 1e-9);
    EXPECT_GT(arrivals.front(), 0) << "the first request has a gap of its own";
    EXPECT_TRUE(std::is_sorted(arrivals.begin(), arrivals.end()));
  }
}

TEST(PlanArrivals, DependsOnTheSeedAlone) {
  EXPECT_EQ(PlanArrivals(50, 2, 1, 7), PlanArrivals(50, 2, 1, 7));
  EXPECT_NE(PlanArrivals(50, 2, 1, 7), PlanArrivals(50, 2, 1, 8));
}

TEST(PlanArrivals, IsEvenAtInfiniteBurstiness) {
  EXPECT_THAT(PlanArrivals(4, 2, std::numeric_limits<double>::infinity(), 0),
              testing::ElementsAre(0.5, 1.0, 1.5, 2.0));
}

struct GapCase {
  const char* name;
  double burstiness;
};
class ArrivalGaps : public testing::TestWithParam<GapCase> {};

// Gamma gaps of shape b have the coefficient of variation 1 / sqrt(b).
TEST_P(ArrivalGaps, VaryAsTheGammaDistribution) {
  constexpr int64_t kGaps = 200000;
  const std::vector<double> arrivals = PlanArrivals(kGaps, 10, GetParam().burstiness, 1);
  double squares = 0, before = 0;
  for (const double arrival : arrivals) {
    squares += std::pow(arrival - before - 0.1, 2);
    before = arrival;
  }
  const double variation = std::sqrt(squares / kGaps) / 0.1;
  EXPECT_NEAR(variation * std::sqrt(GetParam().burstiness), 1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(Burstiness, ArrivalGaps,
                         testing::Values(GapCase{"Bursty", 0.25}, GapCase{"Poisson", 1}, GapCase{"Even", 9}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(PlanRampUp, GoesByEqualStepsOrEqualRatios) {
  const double constant = std::numeric_limits<double>::infinity();
  // Rates 1, 2, 3: gaps 1, 1/2, 1/3.
  EXPECT_THAT(PlanRampUp(3, false, 1, 3, constant, 0),
              testing::ElementsAre(1, testing::DoubleEq(1.5), testing::DoubleEq(1.5 + 1 / 3.0)));
  // Rates 1, 2, 4.
  EXPECT_THAT(PlanRampUp(3, true, 1, 4, constant, 0), testing::ElementsAre(1, 1.5, 1.75));
  EXPECT_THAT(PlanRampUp(1, false, 2, 8, constant, 0), testing::ElementsAre(0.5));
  EXPECT_TRUE(PlanRampUp(0, true, 1, 2, 1, 0).empty());
}

TEST(PlanRampUp, HasRandomGapsOfTheRightMean) {
  const std::vector<double> arrivals = PlanRampUp(100000, false, 10, 10, 1, 3);
  EXPECT_NEAR(arrivals.back(), 10000, 150) << "not scaled: 1/sqrt(n) of spread is left";
  EXPECT_NE(arrivals.back(), 10000);
}

// First outputs of the reference implementation (Vigna, splitmix64.c) for seed 1234567.
TEST(SplitMix64, GivesTheReferenceNumbers) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.Next(), 6457827717110365317u);
  EXPECT_EQ(random.Next(), 3203168211198807973u);
  EXPECT_EQ(random.Next(), 9817491932198370423u);
}

}  // namespace
}  // namespace assay::evals
