#include "evals/serving/rate_search.h"

#include <gtest/gtest.h>

namespace assay::evals {
namespace {

// A server that keeps its limits up to `capacity`.
Result<RateFound> Search(double capacity, RateSearch search = {}) {
  return FindHighestRate(search, [&](double rate) -> Result<RateProbe> {
    return RateProbe{rate, rate <= capacity, "", false};
  });
}

TEST(FindHighestRate, ComesWithinItsPrecisionFromBelow) {
  for (const double capacity : {0.013, 0.7, 1.0, 3.3, 17.0, 100.0, 999.0}) {
    const auto found = Search(capacity);
    ASSERT_TRUE(found.has_value());
    ASSERT_TRUE(found->rate.has_value()) << capacity;
    EXPECT_LE(*found->rate, capacity);
    EXPECT_GT(*found->rate * 1.06, capacity);
    EXPECT_TRUE(found->limited);
    EXPECT_LE(found->probes.size(), 20u);
  }
}

TEST(FindHighestRate, SaysWhenNoRateWill) {
  const auto found = Search(0);
  EXPECT_FALSE(found->rate.has_value());
  EXPECT_TRUE(found->limited);
}

TEST(FindHighestRate, SaysWhenTheServerNeverGaveIn) {
  const auto found = Search(1e9, {.most = 64});
  EXPECT_EQ(found->rate, 64);
  EXPECT_FALSE(found->limited);
  EXPECT_EQ(found->probes.size(), 7u) << "1, 2, 4 ... 64";
}

TEST(FindHighestRate, LooksAtNoLowerRateWhenRequestsMissEvenAlone) {
  const auto found = FindHighestRate({.first = 64}, [](double rate) -> Result<RateProbe> {
    return RateProbe{rate, false, "", rate <= 16};
  });
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->rate.has_value());
  EXPECT_EQ(found->probes.size(), 3u) << "64, 32, 16";
}

TEST(ProbePrompts, LastAsLongAsAskedAndAreNeverFewerThanAHandful) {
  EXPECT_EQ(ProbePrompts(16, 10), 160);
  EXPECT_EQ(ProbePrompts(2.5, 3), 8) << "at least so many seconds";
  EXPECT_EQ(ProbePrompts(0.001, 10), 5);
  EXPECT_EQ(ProbePrompts(4096, 0), 5);
}

TEST(FindHighestRate, EndsAtItsLastProbe) {
  EXPECT_EQ(Search(1000, {.probes = 3})->probes.size(), 3u);
  EXPECT_EQ(Search(1000, {.probes = 3})->rate, 4);
}

// A noisy server may fail below a rate it met: the lowest failure bounds the search, and it still ends.
TEST(FindHighestRate, EndsWithANoisyServer) {
  int probe = 0;
  const auto found = FindHighestRate({}, [&](double rate) -> Result<RateProbe> {
    ++probe;
    return RateProbe{rate, probe % 3 != 0, "", false};
  });
  ASSERT_TRUE(found.has_value());
  EXPECT_LE(found->probes.size(), 20u);
}

TEST(FindHighestRate, PassesAFailureOn) {
  const auto found = FindHighestRate(
      {}, [](double) -> Result<RateProbe> { return Fail(ErrorKind::kInfrastructure, "the server died"); });
  EXPECT_FALSE(found.has_value());
}

}  // namespace
}  // namespace assay::evals
