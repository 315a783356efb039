#include "record/rank_tests.h"

#include <gtest/gtest.h>

#include <cmath>

#include "record/statistics.h"

namespace assay::record {
namespace {

constexpr double kTolerance = 1e-6;

// Reference values: scipy 1.10.
const std::vector<double> kMain = {100.2, 101.5, 99.8, 100.9, 100.4};
const std::vector<double> kChange = {97.1, 98.4, 96.9, 97.7, 98.0};
const std::vector<double> kSixMain = {392.6, 395.1, 390.8, 393.9, 391.2, 394.4};
const std::vector<double> kSixChange = {389.9, 391.0, 388.7, 392.1, 390.5, 387.6};

std::vector<double> SixLogRatios() {
  std::vector<double> ratios;
  for (size_t i = 0; i < kSixMain.size(); ++i) ratios.push_back(std::log(kSixChange[i] / kSixMain[i]));
  return ratios;
}

TEST(MannWhitney, IsExactForFiveAgainstFive) {
  const RankSum test = MannWhitney(kMain, kChange);
  EXPECT_TRUE(test.exact);
  EXPECT_EQ(test.u, 25);
  EXPECT_NEAR(test.p_two_sided, 0.007937, kTolerance);
  EXPECT_NEAR(test.p_x_greater, 0.003968, kTolerance);
  EXPECT_NEAR(test.p_y_greater, 1, 1e-12);
}

TEST(MannWhitney, CountsOrdersWhereTheArmsOverlap) {
  const RankSum test = MannWhitney(kSixMain, kSixChange);
  EXPECT_EQ(test.u, 33);
  EXPECT_NEAR(test.p_two_sided, 0.015152, kTolerance);
  EXPECT_NEAR(MannWhitneyNormal(kSixMain, kSixChange).p_two_sided, 0.020241, kTolerance);
  EXPECT_NEAR(2 * test.u / 36 - 1, 0.833333, kTolerance) << "Cliff's delta";
}

TEST(MannWhitney, CorrectsForTies) {
  const RankSum test = MannWhitney({10, 10, 11, 12, 12}, {11, 12, 13, 13, 14});
  EXPECT_FALSE(test.exact);
  EXPECT_EQ(test.u, 3.5);
  EXPECT_NEAR(test.p_two_sided, 0.069601, kTolerance);
}

TEST(MannWhitney, ShowsNothingWhereAllValuesAreEqual) {
  EXPECT_EQ(MannWhitney({3, 3, 3}, {3, 3, 3}).p_two_sided, 1);
}

TEST(MannWhitney, IsTheSameSeenFromTheOtherArm) {
  const RankSum one = MannWhitney({1, 4, 6}, {2, 3, 5, 7}), other = MannWhitney({2, 3, 5, 7}, {1, 4, 6});
  EXPECT_EQ(one.u + other.u, 12);
  EXPECT_NEAR(one.p_x_greater, other.p_y_greater, 1e-12);
  EXPECT_NEAR(one.p_two_sided, other.p_two_sided, 1e-12);
}

TEST(SmallestRankSumP, SaysThatThreeAgainstThreeNeverReachesFivePercent) {
  const double two_sided[] = {0.333333, 0.100000, 0.028571, 0.007937, 0.002165, 0.000583, 0.000155, 0.000041};
  for (int n = 2; n <= 9; ++n) EXPECT_NEAR(2 * SmallestRankSumP(n, n), two_sided[n - 2], kTolerance) << n;
  EXPECT_NEAR(SmallestRankSumP(3, 3), 0.05, 1e-12) << "one-sided, exactly";
}

TEST(HodgesLehmann, IsTheMedianShift) {
  EXPECT_NEAR(HodgesLehmannShift(kMain, kChange), -2.9, 1e-9);
  EXPECT_NEAR(std::exp(HodgesLehmannShift(Logs(kSixMain), Logs(kSixChange))), 0.992109, kTolerance);
}

TEST(HodgesLehmann, IntervalEndsAtOrderStatistics) {
  const auto interval = HodgesLehmannInterval(kMain, kChange, 0.95);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, -4.0, 1e-9);
  EXPECT_NEAR(interval->high, -1.8, 1e-9);
  EXPECT_NEAR(interval->confidence, 0.968254, kTolerance);
}

TEST(HodgesLehmann, ThreeAgainstThreeHaveNoInterval) {
  EXPECT_FALSE(HodgesLehmannInterval({1, 2, 3}, {4, 5, 6}, 0.95));
  EXPECT_TRUE(HodgesLehmannInterval({1, 2, 3}, {4, 5, 6}, 0.90)) << "one-sided 0.05 exactly";
}

TEST(SignFlip, OfSixPairsOfOneSignIsTwoOf64) {
  const SignFlip test = SignFlipTest(SixLogRatios());
  EXPECT_NEAR(test.p_two_sided, 0.031250, kTolerance);
  EXPECT_NEAR(test.p_negative, SmallestSignFlipP(6), 1e-12);
  EXPECT_EQ(test.p_positive, 1);
}

// Of the eight patterns of 3, 2, -1 the sums are +-6, +-4, +-2 and 0 twice; 4 or more: two of them.
TEST(SignFlip, CountsEveryPattern) {
  const std::vector<double> real = {3, 2, -1};
  const std::vector<int64_t> whole = {3, 2, -1};
  EXPECT_NEAR(SignFlipTest(real).p_positive, 2.0 / 8, 1e-12);
  EXPECT_NEAR(SignFlipTest(whole).p_positive, 2.0 / 8, 1e-12);
  EXPECT_NEAR(SignFlipTest(real).p_negative, 7.0 / 8, 1e-12);
  EXPECT_NEAR(SignFlipTest(whole).p_negative, 7.0 / 8, 1e-12);
}

TEST(SignFlip, OfSignedRanksIsWilcoxonsTest) {
  // All six negative: ranks 1 to 6, whatever their order.
  EXPECT_NEAR(SignFlipTest(std::vector<int64_t>{-4, -5, -3, -2, -1, -6}).p_two_sided, 0.031250, kTolerance);
}

TEST(SignFlip, OfSingleAnswersIsMcNemarsTest) {
  struct {
    int broken, fixed;
    double two_sided, one_sided;
  } cases[] = {{5, 0, 0.062500, 0.031250},
               {10, 4, 0.179565, 0.089783},
               {20, 9, 0.061428, 0.030714},
               {30, 12, 0.007916, 0.003958},
               {25, 15, 0.153860, 0.076930}};
  for (const auto& c : cases) {
    std::vector<int64_t> net(100, 0);
    net.insert(net.end(), static_cast<size_t>(c.broken), -1);
    net.insert(net.end(), static_cast<size_t>(c.fixed), 1);
    EXPECT_NEAR(SignFlipTest(net).p_negative, c.one_sided, kTolerance) << c.broken;
    EXPECT_NEAR(SignFlipTest(net).p_two_sided, c.two_sided, kTolerance) << c.broken;
  }
}

TEST(SignFlip, ShowsNothingWhereNothingDiffers) {
  EXPECT_EQ(SignFlipTest(std::vector<double>{0, 0}).p_two_sided, 1);
  EXPECT_EQ(SignFlipTest(std::vector<int64_t>{0, 0}).p_two_sided, 1);
}

TEST(SignFlip, OfManyPairsIsNearlyExact) {
  std::vector<double> real;
  std::vector<int64_t> whole;
  for (int64_t i = 1; i <= 24; ++i) {
    whole.push_back(i % 3 == 0 ? -i : i);
    real.push_back(static_cast<double>(whole.back()));
  }
  EXPECT_NEAR(SignFlipTest(real).p_positive, SignFlipTest(whole).p_positive, 0.01)
      << "sums are whole numbers";
}

TEST(HodgesLehmannCentre, IsTheMedianOfMeansOfTwo) {
  // Means of two of 1, 2, 6: 1, 1.5, 3.5, 2, 4, 6.
  EXPECT_NEAR(HodgesLehmannCentre({1, 2, 6}), 2.75, 1e-12);
}

}  // namespace
}  // namespace assay::record
