#include "record/score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <tuple>
#include <utility>

namespace assay::record {
namespace {

constexpr double kTolerance = 1e-6;

TEST(WilsonInterval, AgreesWithKnownAnswers) {
  const struct {
    const char* name;
    double k, n, low, high, one_sided_low, one_sided_high;
  } cases[] = {
      {"all right", 10, 10, 0.722467, 1, NAN, NAN},
      {"all wrong", 0, 10, 0, 0.277533, NAN, NAN},
      {"one right", 1, 10, 0.017876, 0.404150, NAN, NAN},
      {"diamond, one pass", 112, 198, 0.496014, 0.632799, 0.507215, 0.622328},
      {"main, one pass", 254, 448, 0.520704, 0.612086, 0.528170, 0.604955},
      {"diamond, eight passes", 900, 1584, 0.543653, 0.592381, 0.547611, 0.588520},
      {"main, eight passes", 2036, 3584, 0.551799, 0.584216, 0.554424, 0.581634},
      {"main run 1", 909, 1584, 0.549361, 0.598009, 0.553317, 0.594158},
      {"change run 4", 876, 1584, 0.528447, 0.577357, 0.532410, 0.573470},
      {"909 at 5 effective samples of 8", 909 / 5.2, 1584 / 5.2, NAN, NAN, 0.526810, 0.619617},
  };
  for (const auto& c : cases) {
    const Interval two = WilsonInterval(c.k, c.n, 0.95);
    const Interval one = WilsonInterval(c.k, c.n, 0.90);
    if (!std::isnan(c.low)) {
      EXPECT_NEAR(two.low, c.low, kTolerance) << c.name;
      EXPECT_NEAR(two.high, c.high, kTolerance) << c.name;
    }
    if (!std::isnan(c.one_sided_low)) {
      EXPECT_NEAR(one.low, c.one_sided_low, kTolerance) << c.name;
      EXPECT_NEAR(one.high, c.one_sided_high, kTolerance) << c.name;
    }
  }
}

TEST(JeffreysInterval, AgreesWithKnownAnswers) {
  EXPECT_NEAR(JeffreysInterval(10, 10, 0.95).low, 0.782803, kTolerance);
  EXPECT_NEAR(JeffreysInterval(10, 10, 0.95).high, 0.999952, kTolerance);
  EXPECT_NEAR(JeffreysInterval(0, 10, 0.95).low, 0.000048, kTolerance);
  EXPECT_NEAR(JeffreysInterval(0, 10, 0.95).high, 0.217196, kTolerance);
}

TEST(MinimumObservations, AgreesWithKnownAnswers) {
  struct {
    double share;
    int64_t above;
    double confidence;
    int64_t n;
  } cases[] = {{0.90, 0, 0.95, 29},  {0.90, 1, 0.95, 46},   {0.90, 2, 0.95, 61},  {0.99, 0, 0.95, 299},
               {0.99, 1, 0.95, 473}, {0.99, 2, 0.95, 628},  {0.99, 0, 0.99, 459}, {0.99, 1, 0.99, 662},
               {0.99, 2, 0.99, 838}, {0.999, 0, 0.99, 4603}};
  for (const auto& c : cases) EXPECT_EQ(MinimumObservations(c.share, c.above, c.confidence), c.n) << c.n;
}

TEST(RerunStandardError, IsTheSpreadOfTheSameQuestionsAskedAgain) {
  const std::vector<double> share_correct = {1, 1, .75, .5, .25, 0, 0, 1, .5, .75};
  EXPECT_NEAR(RerunStandardError(share_correct, 4), 0.059512, kTolerance);
}

TEST(QuestionStandardError, TakesQuestionsAsClusters) {
  const std::vector<double> share_correct = {1, 1, .75, .5, .25, 0, 0, 1, .5, .75};
  EXPECT_NEAR(QuestionStandardError(share_correct), 0.123884, kTolerance);
}

TEST(ScoreGrid, AcceptsThePublishedScoresOnlyForTheirTrueCount) {
  const double scores[] = {0.5739, 0.5600, 0.5701, 0.5726, 0.5562, 0.5593, 0.5707, 0.5530};
  int on_grid_of_990 = 0;
  for (double score : scores) {
    EXPECT_TRUE(OnScoreGrid(score, 1584, 4)) << score;
    on_grid_of_990 += OnScoreGrid(score, 990, 4);
  }
  EXPECT_EQ(on_grid_of_990, 1);  // only 0.5707
}

TEST(ThresholdMde, AgreesWithKnownAnswers) {
  EXPECT_NEAR(ThresholdMde(0.568, 198, 0.05, 0.8), 0.087532, kTolerance);
  EXPECT_NEAR(ThresholdMde(0.568, 448, 0.05, 0.8), 0.058192, kTolerance);
  EXPECT_NEAR(ThresholdMde(0.568, 198, 0.025, 0.8), 0.098625, kTolerance);
}

TEST(IntraclassCorrelation, AgreesWithKnownAnswers) {
  const std::vector<double> shares = {1, 1, .75, .5, .25, 0, 0, 1, .5, .75};  // of 4 repeats
  const double rho = IntraclassCorrelation(shares, 4).value_or(0);
  EXPECT_NEAR(rho, 0.454545, kTolerance);
  EXPECT_NEAR(DesignEffect(rho, 4), 2.363636, kTolerance);
  EXPECT_NEAR(IntraclassCorrelation({0, 1, 1, 0}, 8).value_or(0), 1, 1e-12);
  EXPECT_FALSE(IntraclassCorrelation({1, 1, 1}, 8));
  for (const auto& [correlation, effect, effective] :
       {std::tuple{0.0, 1.0, 1584.0}, {0.3, 3.1, 510.967742}, {0.6, 5.2, 304.615385}, {1.0, 8.0, 198.0}}) {
    EXPECT_NEAR(DesignEffect(correlation, 8), effect, 1e-12);
    EXPECT_NEAR(1584 / DesignEffect(correlation, 8), effective, 1e-5);
  }
}

TEST(QuantileRanks, AgreeWithKnownAnswers) {
  const auto ranks = [](int64_t n, double share) {
    const RankInterval interval = QuantileRanks(n, share, 0.95);
    return std::pair(interval.low, interval.high.value_or(-1));
  };
  EXPECT_EQ(ranks(200, 0.5), std::pair(86L, 115L));
  EXPECT_EQ(ranks(200, 0.9), std::pair(171L, 189L));
  EXPECT_EQ(ranks(200, 0.99), std::pair(195L, -1L)) << "not bounded above";
  EXPECT_EQ(ranks(500, 0.99), std::pair(490L, 500L));
  EXPECT_EQ(ranks(1000, 0.99), std::pair(983L, 997L));
  EXPECT_EQ(ranks(1, 0.5), std::pair(1L, -1L));
}

}  // namespace
}  // namespace assay::record
