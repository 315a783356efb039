#include "record/multiplicity.h"

#include <gtest/gtest.h>

namespace assay::record {
namespace {

TEST(HolmAdjusted, AgreesWithKnownAnswers) {
  const std::vector<double> p = {.001, .008, .012, .03, .04, .2, .5, .9};
  const double holm[] = {.008, .056, .072, .15, .16, .6, 1, 1};
  const double hochberg[] = {.008, .032, .032, .06, .064, .266667, .571429, .9};
  for (size_t i = 0; i < p.size(); ++i) {
    EXPECT_NEAR(HolmAdjusted(p)[i], holm[i], 1e-6) << i;
    EXPECT_NEAR(BenjaminiHochbergAdjusted(p)[i], hochberg[i], 1e-6) << i;
  }
}

TEST(HolmAdjusted, KeepsTheOrderOfItsInput) {
  EXPECT_EQ(HolmAdjusted({0.5, 0.01}), (std::vector<double>{0.5, 0.02}));
  EXPECT_EQ(BenjaminiHochbergAdjusted({0.5, 0.01}), (std::vector<double>{0.5, 0.02}));
  EXPECT_TRUE(HolmAdjusted({}).empty());
}

}  // namespace
}  // namespace assay::record
