#include "record/pairs.h"

#include <gtest/gtest.h>

#include <cmath>

namespace assay::record {
namespace {

// Six interleaved runs of each arm, tokens a second; every value below by numpy and scipy.
const std::vector<double> kBase = {392.6, 395.1, 390.8, 393.9, 391.2, 394.4};
const std::vector<double> kHead = {389.9, 391.0, 388.7, 392.1, 390.5, 387.6};

TEST(Pairs, LogRatiosArePositiveWhereHeadIsWorse) {
  const double expected[] = {0.006901, 0.010431, 0.005388, 0.004580, 0.001791, 0.017392};
  const std::vector<double> higher = LogRatios(kBase, kHead, true), lower = LogRatios(kBase, kHead, false);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(higher[i], expected[i], 1e-6);
    EXPECT_NEAR(lower[i], -expected[i], 1e-6);
  }
}

TEST(Pairs, AgreesWithTheStudentIntervalOfTheRatio) {
  const PairChange change = ChangeOverPairs(LogRatios(kBase, kHead, true));
  EXPECT_EQ(change.pairs, 6);
  EXPECT_NEAR(change.mean, 0.007747, 1e-6);
  EXPECT_NEAR(change.standard_error, 0.002251, 1e-6);
  EXPECT_NEAR(change.mean / change.standard_error, 3.441675, 1e-6);
  const double half = PairHalfWidth(change, 0.025);
  EXPECT_NEAR(std::exp(-change.mean), 0.992283, 1e-6);
  EXPECT_NEAR(std::exp(-change.mean - half), 0.986558, 1e-6);
  EXPECT_NEAR(std::exp(-change.mean + half), 0.998041, 1e-6);
}

TEST(Pairs, TestsOneSideAgainstAnyLimit) {
  const PairChange change = ChangeOverPairs(LogRatios(kBase, kHead, true));
  EXPECT_NEAR(2 * PairPValue(change, 0), 0.018402, 1e-6);
  EXPECT_NEAR(PairPValue(change, change.mean), 0.5, 1e-9);
  EXPECT_EQ(PairPValue({4, 0.05, 0}, 0.03), 0);
  EXPECT_EQ(PairPValue({4, 0.02, 0}, 0.03), 1);
}

TEST(Pairs, NothingIsSureWithoutAnyErrorToSpend) {
  EXPECT_TRUE(std::isinf(PairHalfWidth({6, 0.01, 0.002}, 0)));
}

}  // namespace
}  // namespace assay::record
