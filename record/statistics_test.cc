#include "record/statistics.h"

#include <gtest/gtest.h>

#include "record/distributions.h"

namespace assay::record {
namespace {

struct PercentileCase {
  const char* name;
  std::vector<double> values;
  double p;
  double expected;  // numpy.percentile(values, p)
};

TEST(Percentile, InterpolatesAsNumpyDoes) {
  const PercentileCase cases[] = {
      {"one value", {7}, 99, 7},
      {"lowest", {3, 1, 2}, 0, 1},
      {"highest", {3, 1, 2}, 100, 3},
      {"median of an even count", {4, 1, 3, 2}, 50, 2.5},
      {"between ranks", {10, 20, 30, 40, 50}, 90, 46},
      {"p99 of eleven", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 99, 9.9},
  };
  for (const PercentileCase& c : cases) EXPECT_NEAR(Percentile(c.values, c.p), c.expected, 1e-12) << c.name;
}

TEST(SampleStddev, DividesByOneLessThanTheCount) {
  EXPECT_NEAR(SampleStddev({2, 4, 4, 4, 5, 5, 7, 9}), 2.138089935299395, 1e-12);
}

// The four PR-minus-main differences of four published GPQA pairs.
TEST(SampleStddev, AgreesWithTheFourScoreDifferences) {
  const std::vector<double> differences = {-0.0139, 0.0025, 0.0031, -0.0177};
  EXPECT_NEAR(Mean(differences), -0.0065, 1e-6);
  EXPECT_NEAR(SampleStddev(differences), 0.010853, 1e-6);
}

// Eight published scores of 1584 samples vary less than binomial counts would, as scores of the same
// questions do; eight runs cannot prove it, since the interval of the ratio reaches beyond 1.
TEST(SampleStddev, OfTheEightPublishedScoresIsBelowBinomial) {
  const std::vector<double> scores = {0.5739, 0.5600, 0.5701, 0.5726, 0.5562, 0.5593, 0.5707, 0.5530};
  const double spread = SampleStddev(scores), p = Mean(scores);
  EXPECT_NEAR(spread, 0.008213, 1e-6);
  const double ratio = spread * spread / (p * (1 - p) / 1584);
  EXPECT_NEAR(ratio, 0.434631, 1e-5);
  EXPECT_NEAR(7 * ratio / ChiSquaredQuantile(0.975, 7), 0.189999, 1e-5);
  EXPECT_NEAR(7 * ratio / ChiSquaredQuantile(0.025, 7), 1.800386, 1e-5);
}

TEST(Median, IsTheMiddleOfAnOddCount) {
  EXPECT_EQ(Median({5, 1, 3}), 3);
}

}  // namespace
}  // namespace assay::record
