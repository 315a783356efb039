#include "record/sequential.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace assay::record {
namespace {

TEST(SpentError, IsOfOBrienAndFlemingsType) {
  EXPECT_NEAR(SpentError(1.0 / 3, 0.05), 0.0007, 5e-5);
  EXPECT_NEAR(SpentError(2.0 / 3, 0.05), 0.0164, 5e-5);
  EXPECT_EQ(SpentError(1, 0.05), 0.05);
  EXPECT_EQ(SpentError(0, 0.05), 0);
  EXPECT_EQ(SpentError(0.5, 0), 0);
}

// Published bounds of this spending function at 0.05 one-sided, to their four digits.
TEST(SequentialBounds, AgreeWithKnownAnswers) {
  const auto spent = [](int looks) {
    std::vector<double> all;
    for (int i = 1; i <= looks; ++i) all.push_back(SpentError(static_cast<double>(i) / looks, 0.05));
    return all;
  };
  const std::vector<double> three = SequentialBounds({1, 2, 3}, spent(3));
  EXPECT_NEAR(three[0], 3.2001, 1e-3);
  EXPECT_NEAR(three[1], 2.1409, 1e-3);
  EXPECT_NEAR(three[2], 1.6951, 1e-3);
  const std::vector<double> two = SequentialBounds({0.5, 1}, spent(2));
  EXPECT_NEAR(two[0], 2.538, 1e-3);
  EXPECT_NEAR(two[1], 1.662, 1e-3);
}

// Three looks at 1.645 are wrong in 0.1011 of all cases, two in 0.0802.
TEST(SequentialBounds, GiveBackTheErrorOfUncorrectedLooks) {
  for (const auto& [spent, looks] :
       {std::pair{std::vector{0.05, 0.0802}, 2}, std::pair{std::vector{0.05, 0.0802, 0.1011}, 3}}) {
    std::vector<double> information;
    for (int i = 1; i <= looks; ++i) information.push_back(i);
    for (double bound : SequentialBounds(information, spent)) EXPECT_NEAR(bound, 1.645, 2e-3);
  }
}

TEST(SequentialBounds, AreClosedWhereNothingMayBeSpent) {
  const std::vector<double> bounds = SequentialBounds({1, 20}, {0, 0.05});
  EXPECT_TRUE(std::isinf(bounds[0]));
  EXPECT_NEAR(bounds[1], 1.644854, 1e-4);
}

// One look: P(X >= 4), X of 5 draws from 10 with 5 right, is (25 + 1) / 252.
TEST(CountBounds, AreExactForOneLook) {
  EXPECT_EQ(CountBounds(10, 5, {5}, {26.0 / 252}), std::vector<int64_t>{4});
  EXPECT_EQ(CountBounds(10, 5, {5}, {25.9 / 252}), std::vector<int64_t>{5});
  EXPECT_EQ(CountBounds(10, 5, {5}, {0.9 / 252}), std::vector<int64_t>{6});
}

TEST(CountBounds, KnowWhatCannotBe) {
  EXPECT_EQ(CountBounds(10, 3, {5, 9}, {0, 0}), (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(CountBounds(4, 0, {1}, {0}), std::vector<int64_t>{1});
  EXPECT_EQ(CountBounds(1000, 999, {500, 1000}, {0, 0}), (std::vector<int64_t>{501, 1000}));
}

// Drawn for real: the bounds are reached as often as they say, and less with one success fewer.
TEST(CountBounds, HoldTheirErrorWhenDrawn) {
  constexpr int64_t kSize = 198, kSuccesses = 112;
  std::vector<int64_t> looks;
  std::vector<double> spent;
  for (int64_t i = 1; i < 20; ++i) {
    looks.push_back(kSize * i / 20);
    spent.push_back(SpentError(static_cast<double>(i) / 20, 0.05));
  }
  const std::vector<int64_t> bounds = CountBounds(kSize, kSuccesses, looks, spent);
  std::mt19937_64 random(1);
  constexpr int kRuns = 20000;
  int reached = 0;
  std::vector<int> population(kSize, 0);
  std::fill(population.begin(), population.begin() + kSuccesses, 1);
  for (int run = 0; run < kRuns; ++run) {
    std::shuffle(population.begin(), population.end(), random);
    int64_t count = 0, drawn = 0;
    for (size_t look = 0; look < looks.size(); ++look) {
      while (drawn < looks[look]) count += population[static_cast<size_t>(drawn++)];
      if (count < bounds[look]) continue;
      ++reached;
      break;
    }
  }
  const double share = static_cast<double>(reached) / kRuns;
  EXPECT_LE(share, 0.05 + 3 * std::sqrt(0.05 * 0.95 / kRuns));
  EXPECT_GE(share, 0.02) << "the bounds waste what they may spend";
}

}  // namespace
}  // namespace assay::record
