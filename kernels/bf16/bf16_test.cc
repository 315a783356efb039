#include "kernels/bf16/bf16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

struct Case {
  const char* name;
  float value;
  Bf16 bits;
};
const Case kCases[] = {
    {"one", 1.0f, 0x3F80},
    {"negative zero", -0.0f, 0x8000},
    {"tie to even, down", 1.00390625f, 0x3F80},
    {"tie to even, up", 1.01171875f, 0x3F82},
    {"just above a tie", 1.0039064f, 0x3F81},
    {"largest float overflows", std::numeric_limits<float>::max(), 0x7F80},
    {"infinity", -std::numeric_limits<float>::infinity(), 0xFF80},
    {"subnormal", std::ldexp(1.0f, -133), 0x0001},
};

TEST(Bf16, RoundsToNearestEven) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const Case& c : kCases) {
      EXPECT_EQ(ToBf16(c.value), c.bits) << c.name;
      std::vector<float> in(37, c.value);
      std::vector<Bf16> out(in.size());
      SplitToBf16(in.data(), static_cast<int64_t>(in.size()), 1, out.data(), nullptr);
      for (const Bf16 bits : out) EXPECT_EQ(bits, c.bits) << c.name;
    }
  }
}

TEST(Bf16, KeepsEveryNaN) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const uint32_t bits : {0x7FC00000u, 0xFFFFFFFFu, 0x7F800001u, 0x7FFFFFFFu}) {
      std::vector<float> in(17, std::bit_cast<float>(bits));
      std::vector<Bf16> out(in.size());
      SplitToBf16(in.data(), static_cast<int64_t>(in.size()), 1, out.data(), nullptr);
      for (const Bf16 value : out) EXPECT_TRUE(std::isnan(FromBf16(value)));
    }
  }
}

TEST(Bf16, TwoTermsKeepSixteenBits) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    TestData data(1);
    std::vector<float> in = data.Values(1003);
    in[0] = in[1002] = std::numeric_limits<float>::infinity();
    std::vector<Bf16> out(2 * in.size());
    SplitToBf16(in.data(), 1003, 2, out.data(), out.data() + 1003);
    std::vector<float> sums(in.size()), rounded(in.size());
    RoundToBf16(in.data(), 1003, 2, sums.data());
    RoundToBf16(in.data(), 1003, 1, rounded.data());
    for (size_t i = 0; i < in.size(); ++i) {
      const float first = FromBf16(out[i]), second = FromBf16(out[1003 + i]);
      EXPECT_EQ(out[i], ToBf16(in[i]));
      EXPECT_EQ(rounded[i], first);
      EXPECT_EQ(sums[i], first + second);
      if (std::isinf(in[i])) {
        EXPECT_EQ(first + second, in[i]);
      } else {
        EXPECT_LE(std::abs(in[i] - first - second), std::abs(in[i]) * 0x1p-17) << in[i];
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
