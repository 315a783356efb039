#include "kernels/mxfp4/mxfp4.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/panel/panel.h"
#include "kernels/test_data.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

TEST(Mxfp4, DecodesEveryNibbleAndScale) {
  const float magnitudes[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (uint8_t nibble = 0; nibble < 16; ++nibble) {
    const float value = DecodeE2M1(nibble);
    EXPECT_EQ(std::abs(value), magnitudes[nibble & 7]);
    EXPECT_EQ(std::signbit(value), nibble >= 8) << int{nibble};
  }
  for (int byte = 0; byte < 255; ++byte) {
    EXPECT_EQ(DecodeE8M0(static_cast<uint8_t>(byte)), std::ldexp(1.0, byte - 127)) << byte;
  }
  EXPECT_TRUE(std::isnan(DecodeE8M0(255)));
}

TEST(Mxfp4, LowNibbleIsTheEvenElement) {
  uint8_t block[16] = {0x2F};  // low F = -6, high 2 = 1
  const uint8_t scale = 128;   // 2
  float values[32];
  DecodeMxfp4(block, &scale, 1, values);
  EXPECT_EQ(values[0], -12);
  EXPECT_EQ(values[1], 2);
  EXPECT_EQ(values[2], 0);
}

struct ScaleCase {
  const char* name;
  float largest;
  Mxfp4Scale rule;
  int exponent;
  float back;  // of the largest
};
const ScaleCase kScaleCases[] = {
    {"six fits", 6, Mxfp4Scale::kCover, 0, 6},
    {"above six doubles the scale", 6.01f, Mxfp4Scale::kCover, 1, 6},
    {"eight", 8, Mxfp4Scale::kCover, 1, 8},
    {"OCP: seven is clipped", 7, Mxfp4Scale::kOcp, 0, 6},
    {"OCP: four", 4, Mxfp4Scale::kOcp, 0, 4},
    {"OCP: just below four is clipped", 3.99f, Mxfp4Scale::kOcp, -1, 3},
    {"smallest normal", 0x1p-126f, Mxfp4Scale::kCover, -127, 0x1p-126f},
};

TEST(Mxfp4, ScaleFollowsTheRule) {
  for (const ScaleCase& c : kScaleCases) {
    float values[32] = {0.1f * c.largest, -c.largest};
    uint8_t block[16], scale = 0;
    EncodeMxfp4(values, 1, c.rule, block, &scale);
    EXPECT_EQ(scale, c.exponent + 127) << c.name;
    float back[32];
    DecodeMxfp4(block, &scale, 1, back);
    EXPECT_EQ(back[1], -c.back) << c.name;
  }
}

TEST(Mxfp4, TiesGoToTheEvenMantissa) {
  const struct {
    float value, rounded;
  } cases[] = {{0.25f, 0}, {0.75f, 1}, {1.25f, 1}, {1.75f, 2}, {2.5f, 2},
               {3.5f, 4},  {5, 4},     {5.1f, 6},  {-2.5f, -2}};
  for (const auto& c : cases) {
    float values[32] = {6, c.value};
    uint8_t block[16], scale = 0;
    EncodeMxfp4(values, 1, Mxfp4Scale::kCover, block, &scale);
    float back[32];
    DecodeMxfp4(block, &scale, 1, back);
    EXPECT_EQ(back[1], c.rounded) << c.value;
  }
}

TEST(Mxfp4, EncodingWhatWasDecodedChangesNoValue) {
  TestData data(1);
  const std::vector<uint8_t> blocks = data.Bytes(16 * 500), scales = data.Bytes(500, 0, 252);
  std::vector<float> values(32 * 500), again(32 * 500);
  DecodeMxfp4(blocks.data(), scales.data(), 500, values.data());
  std::vector<uint8_t> blocks2(blocks.size()), scales2(scales.size());
  EncodeMxfp4(values.data(), 500, Mxfp4Scale::kCover, blocks2.data(), scales2.data());
  DecodeMxfp4(blocks2.data(), scales2.data(), 500, again.data());
  EXPECT_EQ(values, again);
}

TEST(Mxfp4, NotANumberMarksTheWholeBlock) {
  float values[32] = {1, std::numeric_limits<float>::quiet_NaN()};
  uint8_t block[16], scale = 0;
  EncodeMxfp4(values, 1, Mxfp4Scale::kCover, block, &scale);
  EXPECT_EQ(scale, 255);
  float back[32];
  DecodeMxfp4(block, &scale, 1, back);
  for (const float value : back) EXPECT_TRUE(std::isnan(value));
}

// Every byte under every scale, through the packed layout.
TEST(Mxfp4Panel, DecodesWhatTheDefinitionDecodes) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    constexpr int64_t kK = 64;
    for (int scale = 0; scale < 256; ++scale) {
      TestData data(static_cast<uint32_t>(scale));
      const std::vector<uint8_t> blocks = data.Bytes(40 * kK / 2);
      const std::vector<uint8_t> scales(40 * kK / 32, static_cast<uint8_t>(scale));
      std::vector<int64_t> columns;
      for (int64_t n = 0; n < 31; ++n) columns.push_back(39 - n);  // any order, one column missing
      std::vector<uint8_t> packed(static_cast<size_t>(Mxfp4PanelBytes(kK)));
      PackMxfp4Panel(blocks.data(), scales.data(), kK, columns, packed.data());
      const auto* panel_blocks = reinterpret_cast<const Mxfp4PanelBlock*>(packed.data());
      std::vector<Bf16> panel(static_cast<size_t>(kK * kPanel));
      DecodeMxfp4Panel(panel_blocks, kK / 32, panel.data());
      std::vector<float> wide(panel.size()), wide_scales(kK / 32 * kPanel);
      OpenMxfp4Panel(panel_blocks, kK / 32, wide.data(), wide_scales.data());
      for (size_t i = 0; i < wide.size(); ++i)
        wide[i] *= wide_scales[i / (32 * kPanel) * kPanel + i % kPanel];
      std::vector<float> values(40 * kK);
      DecodeMxfp4(blocks.data(), scales.data(), 40 * kK / 32, values.data());
      for (int64_t k = 0; k < kK; ++k) {
        for (int64_t n = 0; n < kPanel; ++n) {
          const float actual = FromBf16(panel[static_cast<size_t>((k / 2 * kPanel + n) * 2 + k % 2)]);
          const auto at = static_cast<size_t>(k * kPanel + n);
          const float expected =
              n == 31 ? 0 : values[static_cast<size_t>(columns[static_cast<size_t>(n)] * kK + k)];
          if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(actual) && std::isnan(wide[at])) << scale;
          } else {
            ASSERT_EQ(wide[at], expected) << "scale " << scale << " k " << k << " n " << n;
            ASSERT_EQ(actual, expected) << "scale " << scale << " k " << k << " n " << n;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
