#include "evals/serving/warm_up.h"

#include <gtest/gtest.h>

namespace assay::evals {
namespace {

int Waves(const std::vector<double>& medians) {
  return WarmUpUntilSteady([&](int index) {
    return static_cast<size_t>(index) < medians.size() ? medians[static_cast<size_t>(index)] : medians.back();
  });
}

TEST(WarmUp, EndsAfterTwoWavesLikeTheOneBefore) {
  EXPECT_EQ(Waves({582, 202, 200, 201}), 4) << "the first wave compiled kernels";
  EXPECT_EQ(Waves({100, 100, 100}), 3);
  EXPECT_EQ(Waves({100, 105, 130, 128, 131}), 5);
}

TEST(WarmUp, GivesUpOnAServerThatIsNeverSteady) {
  int wave = 0;
  EXPECT_EQ(WarmUpUntilSteady([&](int) { return ++wave % 2 == 0 ? 100.0 : 200.0; }), kMostWarmUpWaves);
}

TEST(WarmUp, EndsWhenNothingComesBack) {
  EXPECT_EQ(Waves({-1}), 1);
}

}  // namespace
}  // namespace assay::evals
