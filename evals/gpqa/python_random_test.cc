#include "evals/gpqa/python_random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::evals {
namespace {

using ::testing::ElementsAre;

// Every value here is what CPython 3.11's random.Random gives.

TEST(PythonRandom, DrawsThe32BitWordsOfSeed0) {
  PythonRandom random(0);
  EXPECT_EQ(random.Next32(), 3626764237u);
  EXPECT_EQ(random.Next32(), 1654615998u);
  EXPECT_EQ(random.Next32(), 3255389356u);
  EXPECT_EQ(random.Next32(), 3823568514u);
  EXPECT_EQ(random.Next32(), 1806341205u);
}

TEST(PythonRandom, SeedsWithOneOrTwoWords) {
  EXPECT_EQ(PythonRandom(3407).Next32(), 244111517u);
  PythonRandom wide((uint64_t{1} << 40) + 5);
  EXPECT_EQ(wide.Next32(), 2166296868u);
  EXPECT_EQ(wide.Next32(), 2220160828u);
}

TEST(PythonRandom, DrawsABitEvenForOneChoice) {
  PythonRandom random(0);
  EXPECT_EQ(random.Below(1), 0u);
  EXPECT_EQ(random.Below(1), 0u);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(PythonRandom, DrawsBelowBeyond32Bits) {
  PythonRandom random(0);
  EXPECT_EQ(random.Below(1'000'000'000'000), 424533559245u);
  EXPECT_EQ(random.Below(1'000'000'000'000), 978212965548u);
  EXPECT_EQ(random.Below(1'000'000'000'000), 44756014165u);
}

struct SampleCase {
  const char* name;
  size_t n, k;
  std::vector<size_t> first;
  size_t last, weighted_sum;  // sum of (i + 1) * sample[i]
};

class PythonSample : public testing::TestWithParam<SampleCase> {};

TEST_P(PythonSample, ChoosesAsPythonDoes) {
  const SampleCase& expected = GetParam();
  const std::vector<size_t> sample = PythonRandom(0).Sample(expected.n, expected.k);
  ASSERT_EQ(sample.size(), expected.k);
  size_t weighted_sum = 0;
  for (size_t i = 0; i < sample.size(); ++i) weighted_sum += (i + 1) * sample[i];
  EXPECT_EQ(std::vector(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(expected.first.size())),
            expected.first);
  EXPECT_EQ(sample.back(), expected.last);
  EXPECT_EQ(weighted_sum, expected.weighted_sum);
}

INSTANTIATE_TEST_SUITE_P(
    BothMethods, PythonSample,
    testing::Values(SampleCase{"SetOf64In448", 448, 64, {432, 197, 388, 215, 20, 132, 261, 248}, 313, 506356},
                    SampleCase{"PoolOf100In198", 198, 100, {98, 194, 107, 10, 66, 130, 124, 103}, 50, 484588},
                    SampleCase{
                        "SetOf10In198", 198, 10, {98, 194, 107, 10, 66, 130, 124, 103, 77, 122}, 122, 5562},
                    SampleCase{"LargestPoolFor10", 85, 10, {49, 53, 5, 33, 65}, 45, 2659},
                    SampleCase{"SmallestSetFor10", 86, 10, {49, 53, 5, 33, 65}, 45, 2659},
                    SampleCase{"LargestPoolFor5", 21, 5, {12, 13, 1, 8, 16}, 16, 153},
                    SampleCase{"SmallestSetFor5", 22, 5, {12, 13, 1, 8, 16}, 16, 153}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(PythonRandom, PermutesFourAsPythonDoes) {
  PythonRandom random(3407);
  EXPECT_THAT(random.Sample(4, 4), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(random.Sample(4, 4), ElementsAre(1, 3, 2, 0));
  EXPECT_THAT(random.Sample(4, 4), ElementsAre(1, 3, 2, 0));
  EXPECT_THAT(random.Sample(4, 4), ElementsAre(2, 0, 3, 1));
}

}  // namespace
}  // namespace assay::evals
