#include "kernels/rms_norm/rms_norm.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

TEST(RmsNorm, WorkedExample) {
  const float x[] = {3, -4}, weight[] = {1, 2};
  float y[2];
  RmsNormReference(x, 1, 2, weight, 0, y);  // mean square 12.5
  EXPECT_FLOAT_EQ(y[0], 0.84852814f);
  EXPECT_FLOAT_EQ(y[1], -2.2627417f);
}

TEST(RmsNorm, MatchesTheReference) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const int64_t n : {1, 15, 16, 17, 192, 2880}) {
      TestData data(static_cast<uint32_t>(n));
      const std::vector<float> x = data.Values(3 * n), weight = data.Values(n);
      std::vector<float> expected(x.size()), y(x.size());
      RmsNormReference(x.data(), 3, n, weight.data(), 1e-5, expected.data());
      RmsNorm(x.data(), 3, n, weight.data(), 1e-5, y.data());
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_TRUE(Close(y[i], expected[i], kFloat32, 0)) << n << " at " << i;
    }
  }
}

TEST(RmsNorm, ARowOfZerosStaysZero) {
  const std::vector<float> x(192), weight(192, 2.0f);
  std::vector<float> y(192, 1);
  RmsNorm(x.data(), 1, 192, weight.data(), 1e-5, y.data());
  EXPECT_EQ(y, x);
}

}  // namespace
}  // namespace assay::kernels
