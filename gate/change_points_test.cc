#include "gate/change_points.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace assay::gate {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Computed with numpy from the formula in the header.
const std::vector<double> kDrop = {100, 101, 99, 100.5, 99.5, 100.2, 95, 94.5, 95.5, 94.8, 95.2, 94.9};

TEST(SplitStatistics, AreThoseOfTheFormula) {
  const double expected[] = {2.750000,  5.825926,  7.012500, 12.449206, 17.477778, 26.400000,
                             18.088889, 11.890476, 8.570833, 4.807407,  2.566667};
  const std::vector<double> q = SplitStatistics(kDrop);
  ASSERT_THAT(q, SizeIs(11));
  for (size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(q[i], expected[i], 1e-6) << "tau " << i + 1;
}

TEST(SplitStatistics, OfConstantOrSingleValuesAreZero) {
  EXPECT_THAT(SplitStatistics({5}), IsEmpty());
  for (const double q : SplitStatistics({5, 5, 5, 5})) EXPECT_EQ(q, 0);
}

ChangePointRule Absolute(double p_value) {
  ChangePointRule rule;
  rule.relative = false;
  rule.p_value = p_value;
  return rule;
}

TEST(ChangePoints, FindTheDropAndItsLevels) {
  const auto points = FindChangePoints(kDrop, Absolute(0.01));
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_EQ(points[0].index, 6u);
  EXPECT_NEAR(points[0].q, 26.4, 1e-9);
  EXPECT_NEAR(points[0].before, 100.033333, 1e-6);
  EXPECT_NEAR(points[0].after, 94.983333, 1e-6);
}

// Two of the 924 ways to halve twelve values have a Q as large: p cannot fall below 0.0021.
TEST(ChangePoints, OfTwelveValuesCannotBeSureToOneInAThousand) {
  EXPECT_THAT(FindChangePoints(kDrop, Absolute(0.001)), IsEmpty());
}

std::vector<double> Noise(size_t n, double level, double sd, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(level, sd);
  std::vector<double> values(n);
  for (double& value : values) value = normal(random);
  return values;
}

std::vector<double> Joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(ChangePoints, FindEachOfSeveralChanges) {
  const auto values = Joined(Joined(Noise(20, 100, 1, 1), Noise(15, 110, 1, 2)), Noise(20, 95, 1, 3));
  const auto points = FindChangePoints(values, {});
  ASSERT_THAT(points, SizeIs(2));
  EXPECT_EQ(points[0].index, 20u);
  EXPECT_EQ(points[1].index, 35u);
  EXPECT_NEAR(points[0].change, 0.10, 0.01);
  EXPECT_NEAR(points[1].change, 95.0 / 110 - 1, 0.01);
}

TEST(ChangePoints, FindAChangeFarBehindTheFirstWindow) {
  const auto points = FindChangePoints(Joined(Noise(130, 100, 1, 4), Noise(10, 105, 1, 5)), {});
  ASSERT_THAT(points, SizeIs(1));
  EXPECT_NEAR(static_cast<double>(points[0].index), 130, 1);
}

TEST(ChangePoints, NeedFivePointsOnBothSides) {
  const auto level = Noise(30, 100, 1, 6);
  EXPECT_THAT(FindChangePoints(Joined(level, {120, 121, 119, 120}), {}), SizeIs(::testing::Le(1)));
  for (const ChangePoint& point : FindChangePoints(Joined(level, {120, 121, 119, 120}), {}))
    EXPECT_LE(point.index, 29u) << "no change may be placed closer than five points to the end";
  EXPECT_THAT(FindChangePoints({1, 1, 1, 1, 2, 2, 2, 2}, Absolute(0.05)), IsEmpty());
}

TEST(ChangePoints, SmallerThanTheMarginAreNone) {
  const auto values = Joined(Noise(25, 100, 0.2, 7), Noise(25, 102, 0.2, 8));
  ChangePointRule rule;
  rule.min_change = 0.01;
  EXPECT_THAT(FindChangePoints(values, rule), SizeIs(1));
  rule.min_change = 0.03;
  EXPECT_THAT(FindChangePoints(values, rule), IsEmpty());
}

// Two hundred series without a change, at p = 0.05 for one window each: ten false alarms are expected, and
// more than twenty are less likely than one in a thousand.
TEST(ChangePoints, AreFoundInNoiseAsOftenAsPSays) {
  ChangePointRule rule;
  rule.p_value = 0.05;
  rule.permutations = 199;
  int alarms = 0;
  for (uint64_t seed = 0; seed < 200; ++seed)
    alarms += !FindChangePoints(Noise(30, 100, 1, seed), rule).empty();
  EXPECT_LE(alarms, 20);
  EXPECT_GE(alarms, 1);
}

TEST(ChangePoints, AreTheSameEveryTime) {
  const auto values = Joined(Noise(20, 100, 3, 9), Noise(20, 104, 3, 10));
  const auto first = FindChangePoints(values, {}), second = FindChangePoints(values, {});
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].p_value, second[i].p_value);
}

}  // namespace
}  // namespace assay::gate
