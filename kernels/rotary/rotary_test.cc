#include "kernels/rotary/rotary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

const YarnOptions kGptOss{64, 150000, 32, 32, 1, 4096, false};

TEST(Yarn, InverseFrequenciesOfGptOss) {
  const struct {
    int i;
    double value;
  } cases[] = {{0, 1.0},
               {8, 0.0508132748},
               {9, 0.0317056962},
               {12, 0.00679495949},
               {16, 4.56483919e-4},
               {17, 1.29318701e-4},
               {18, 3.83088124e-5},
               {31, 3.02351143e-7}};
  const std::vector<float> inverse = YarnInverseFrequencies(kGptOss);
  ASSERT_EQ(inverse.size(), 32u);
  for (const auto& c : cases) EXPECT_NEAR(inverse[static_cast<size_t>(c.i)], c.value, 1e-6 * c.value) << c.i;
}

TEST(Yarn, TruncateRoundsTheRampOutwards) {
  YarnOptions options = kGptOss;
  options.truncate = true;  // ramp from 8 to 18
  const std::vector<float> inverse = YarnInverseFrequencies(options);
  const double turn = std::pow(150000.0, -18.0 / 64);  // i = 9: a tenth of the way
  EXPECT_NEAR(inverse[9], turn * 0.9 + turn / 32 * 0.1, 1e-7);
  EXPECT_NEAR(inverse[8], std::pow(150000.0, -16.0 / 64), 1e-7);
}

TEST(Yarn, ConcentrationOfGptOss) {
  EXPECT_DOUBLE_EQ(YarnConcentration(32), 1.3465735902799727);
  EXPECT_EQ(YarnConcentration(1), 1);
}

TEST(Rotary, PositionZeroOnlyScales) {
  const RotaryTable table = MakeRotaryTable(kGptOss, 1);
  std::vector<float> row(64, 2.0f);
  Rotary(table, 0, 1, row.data());
  for (const float value : row) EXPECT_FLOAT_EQ(value, 2 * 1.3465736f);
}

TEST(Rotary, MatchesTheReference) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const int64_t head_dim : {16, 32, 64, 80}) {
      YarnOptions options = kGptOss;
      options.head_dim = head_dim;
      const RotaryTable table = MakeRotaryTable(options, 300);
      TestData data(static_cast<uint32_t>(head_dim));
      for (const int64_t position : {0, 1, 127, 299}) {
        std::vector<float> expected = data.Values(3 * head_dim), row = expected;
        RotaryReference(table, position, 3, expected.data());
        Rotary(table, position, 3, row.data());
        for (size_t i = 0; i < row.size(); ++i) {
          ASSERT_TRUE(Close(row[i], expected[i], kFloat32, 500)) << head_dim << " position " << position;
        }
      }
    }
  }
}

TEST(Rotary, TheProductOfTwoHeadsDependsOnTheirDistanceOnly) {
  const RotaryTable table = MakeRotaryTable(kGptOss, 200);
  const auto product = [&](int64_t a, int64_t b) {
    TestData same(7);
    std::vector<float> q = same.Values(64, 0.1f), k = same.Values(64, 0.1f);
    Rotary(table, a, 1, q.data());
    Rotary(table, b, 1, k.data());
    double sum = 0;
    for (size_t i = 0; i < 64; ++i) sum += static_cast<double>(q[i]) * k[i];
    return sum;
  };
  EXPECT_NEAR(product(10, 3), product(180, 173), 1e-3 * std::abs(product(10, 3)) + 1e-3);
}

}  // namespace
}  // namespace assay::kernels
