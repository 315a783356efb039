#include "kernels/int8/int8.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

std::vector<Int8Block> Quantised(const std::vector<float>& in) {
  std::vector<Int8Block> out(static_cast<size_t>(Int8Blocks(static_cast<int64_t>(in.size()))));
  QuantiseInt8(in.data(), static_cast<int64_t>(in.size()), out.data());
  return out;
}

TEST(Int8, WorkedExample) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    // The scale is 2; 5 and 7 lie between two steps and go to the even one.
    const Int8Block block = Quantised({1, 5, 7, -254, 254, 3.1f, 0}).front();
    EXPECT_EQ(block.scale, 2);
    const int8_t expected[8] = {0, 4, 2, -127, 127, 0, 2, 0};  // the middle two of four change places
    EXPECT_EQ(std::memcmp(block.values, expected, 8), 0);
    EXPECT_EQ(block.sums[0], 0 + 4 + 127 + 0);
    EXPECT_EQ(block.sums[1], 2 - 127 + 2 + 0);
  }
}

TEST(Int8, AValueIsWithinHalfAStep) {
  TestData data(1);
  const std::vector<float> in = data.Values(32 * 300);
  const std::vector<Int8Block> out = Quantised(in);
  for (size_t i = 0; i < in.size(); ++i) {
    const Int8Block& block = out[i / 32];
    const float value = block.scale * block.values[Int8Slot(static_cast<int64_t>(i % 32))];
    ASSERT_LE(std::abs(value - in[i]), 0.5001f * block.scale) << i;
  }
}

TEST(Int8, GivesTheBytesOfTheDefinition) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const int64_t n : {1, 31, 32, 33, 2880}) {
      for (const float size : {1e-38f, 1e-30f, 1e-10f, 1.0f, 1e30f}) {
        TestData data(static_cast<uint32_t>(n));
        const std::vector<float> in = data.Values(n, size);
        std::vector<Int8Block> expected(static_cast<size_t>(Int8Blocks(n)));
        QuantiseInt8Reference(in.data(), n, expected.data());
        const std::vector<Int8Block> out = Quantised(in);
        ASSERT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(Int8Block)), 0)
            << "n " << n << " size " << size;
      }
    }
  }
}

TEST(Int8, WhatIsNotFiniteMarksItsBlock) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const float poison : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> in(96, 1.0f);
      in[40] = poison;
      const std::vector<Int8Block> out = Quantised(in);
      EXPECT_EQ(out[0].scale, 1.0f / 127);
      EXPECT_TRUE(std::isnan(out[1].scale));
      EXPECT_EQ(out[2].values[31], 127);
    }
  }
}

}  // namespace
}  // namespace assay::kernels
