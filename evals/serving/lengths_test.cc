#include "evals/serving/lengths.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::evals {
namespace {

struct Case {
  const char* name;
  int64_t length;
  double ratio;
  const char* convention;
  int64_t least, most;
};
class LengthRanges : public ::testing::TestWithParam<Case> {};

TEST_P(LengthRanges, FollowTheNamedConvention) {
  const Case& row = GetParam();
  const LengthRange range = SpreadLength(row.length, row.ratio, row.convention);
  EXPECT_EQ(range.least, row.least);
  EXPECT_EQ(range.most, row.most);
}

INSTANTIATE_TEST_SUITE_P(Ratios, LengthRanges,
                         ::testing::Values(Case{"VllmZeroIsExact", 1024, 0, "vllm", 1024, 1024},
                                           Case{"VllmHalf", 1024, 0.5, "vllm", 512, 1536},
                                           Case{"VllmRoundsOutwards", 101, 0.5, "vllm", 50, 152},
                                           Case{"SglangOneIsExact", 1024, 1, "sglang", 1024, 1024},
                                           Case{"SglangHalf", 1024, 0.5, "sglang", 512, 1024},
                                           Case{"SglangZeroIsAnything", 1024, 0, "sglang", 1, 1024}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(DrawLength, ReachesBothEndsAndNeverZero) {
  SplitMix64 random(1);
  std::set<int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(DrawLength(random, {0, 3}));
  EXPECT_EQ(seen, (std::set<int64_t>{1, 2, 3}));
  EXPECT_EQ(DrawLength(random, {7, 7}), 7);
}

}  // namespace
}  // namespace assay::evals
