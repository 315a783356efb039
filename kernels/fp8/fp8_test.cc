#include "kernels/fp8/fp8.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

constexpr Fp8 kFormats[] = {Fp8::kE4M3FN, Fp8::kE4M3FNUZ};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

// From the formats' papers: OCP 8-bit floating point 1.0, table 2; AMD's FNUZ variant.
struct Known {
  Fp8 format;
  uint8_t byte;
  float value;
};
const Known kKnown[] = {
    {Fp8::kE4M3FN, 0x00, 0},         {Fp8::kE4M3FN, 0x01, 0x1p-9f}, {Fp8::kE4M3FN, 0x07, 0x1.Cp-7f},
    {Fp8::kE4M3FN, 0x08, 0x1p-6f},   {Fp8::kE4M3FN, 0x38, 1},       {Fp8::kE4M3FN, 0x3C, 1.5f},
    {Fp8::kE4M3FN, 0x40, 2},         {Fp8::kE4M3FN, 0x7E, 448},     {Fp8::kE4M3FN, 0xB8, -1},
    {Fp8::kE4M3FN, 0xFE, -448},      {Fp8::kE4M3FNUZ, 0x00, 0},     {Fp8::kE4M3FNUZ, 0x01, 0x1p-10f},
    {Fp8::kE4M3FNUZ, 0x08, 0x1p-7f}, {Fp8::kE4M3FNUZ, 0x40, 1},     {Fp8::kE4M3FNUZ, 0x7F, 240},
    {Fp8::kE4M3FNUZ, 0xC4, -1.5f},   {Fp8::kE4M3FNUZ, 0xFF, -240},
};

TEST(Fp8, KnownCodes) {
  for (const Known& known : kKnown) {
    EXPECT_EQ(DecodeFp8(known.format, known.byte), known.value) << int{known.byte};
    EXPECT_EQ(EncodeFp8(known.format, known.value), known.byte) << known.value;
  }
  EXPECT_TRUE(std::isnan(DecodeFp8(Fp8::kE4M3FN, 0x7F)));
  EXPECT_TRUE(std::isnan(DecodeFp8(Fp8::kE4M3FN, 0xFF)));
  EXPECT_TRUE(std::isnan(DecodeFp8(Fp8::kE4M3FNUZ, 0x80)));
  EXPECT_TRUE(std::signbit(DecodeFp8(Fp8::kE4M3FN, 0x80)));
}

TEST(Fp8, EveryCodeComesBack) {
  for (const Fp8 format : kFormats) {
    int nans = 0;
    for (int byte = 0; byte < 256; ++byte) {
      const float value = DecodeFp8(format, static_cast<uint8_t>(byte));
      if (std::isnan(value)) {
        ++nans;
        EXPECT_TRUE(std::isnan(DecodeFp8(format, EncodeFp8(format, value))));
      } else {
        EXPECT_EQ(EncodeFp8(format, value), byte);
      }
    }
    EXPECT_EQ(nans, format == Fp8::kE4M3FN ? 2 : 1);
  }
}

TEST(Fp8, TheSameByteOfFnuzIsHalfOfFn) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto code = static_cast<uint8_t>(byte);
    const float fn = DecodeFp8(Fp8::kE4M3FN, code), fnuz = DecodeFp8(Fp8::kE4M3FNUZ, code);
    if (std::isnan(fn) || std::isnan(fnuz)) continue;
    EXPECT_EQ(fnuz, fn / 2) << byte;
  }
}

TEST(Fp8, FnuzWeightsAreWorthTheSame) {
  std::vector<uint8_t> bytes(256);
  for (size_t i = 0; i < 256; ++i) bytes[i] = static_cast<uint8_t>(i);
  const std::vector<uint8_t> fn = bytes;
  float scale = 0.375f;
  ConvertFnToFnuz(bytes, scale);
  EXPECT_EQ(scale, 0.75f);
  EXPECT_EQ(bytes[0x80], 0x00);
  for (size_t i = 0; i < 256; ++i) {
    const float before = DecodeFp8(Fp8::kE4M3FN, fn[i]) * 0.375f;
    const float after = DecodeFp8(Fp8::kE4M3FNUZ, bytes[i]) * scale;
    EXPECT_TRUE(before == after || (std::isnan(before) && std::isnan(after))) << i;
  }
}

// By looking at every code: the nearest value, of two as near the one with the even byte.
uint8_t Nearest(Fp8 format, float value) {
  int best = -1;
  double distance = kInfinity;
  for (int byte = 0; byte < 128; ++byte) {
    const double code = DecodeFp8(format, static_cast<uint8_t>(byte));
    if (std::isnan(code)) continue;
    const double d = std::abs(std::abs(static_cast<double>(value)) - code);
    if (best < 0 || d < distance || (d == distance && byte % 2 == 0)) {
      best = byte;
      distance = d;
    }
  }
  const bool sign = std::signbit(value) && (best != 0 || format == Fp8::kE4M3FN);
  return static_cast<uint8_t>(best | (sign ? 0x80 : 0));
}

// Every code, every middle between two, and their neighbours in float32.
std::vector<float> Corners(Fp8 format) {
  std::vector<float> values = {0.0f, -0.0f, 1e-30f, -1e-30f, 1e6f, -1e6f, 0x1p-149f, 0x1p-11f, 0x1.8p-10f};
  for (int byte = 0; byte < 127; ++byte) {
    const float a = DecodeFp8(format, static_cast<uint8_t>(byte)),
                b = DecodeFp8(format, static_cast<uint8_t>(byte + 1));
    for (const float value : {a, std::isnan(b) ? 464.0f : (a + b) / 2}) {
      for (const float near : {std::nextafter(value, -kInfinity), value, std::nextafter(value, kInfinity)}) {
        values.push_back(near);
        values.push_back(-near);
      }
    }
  }
  TestData data(1);
  for (const float value : data.Values(20000)) values.push_back(value);
  for (int i = 0; i < 20000; ++i) values.push_back(std::ldexp(data.Normal(), data.Below(24) - 14));
  return values;
}

TEST(Fp8, EncodesToTheNearestCode) {
  for (const Fp8 format : kFormats) {
    for (const float value : Corners(format)) {
      ASSERT_EQ(EncodeFp8(format, value), Nearest(format, value)) << value;
    }
  }
}

TEST(Fp8, SaturatesAndKeepsNan) {
  for (const float value : {449.0f, 464.0f, 480.0f, 1e9f, kInfinity}) {
    EXPECT_EQ(EncodeFp8(Fp8::kE4M3FN, value), 0x7E);
    EXPECT_EQ(EncodeFp8(Fp8::kE4M3FN, -value), 0xFE);
    EXPECT_EQ(EncodeFp8(Fp8::kE4M3FNUZ, value), 0x7F);
    EXPECT_EQ(EncodeFp8(Fp8::kE4M3FNUZ, -value), 0xFF);
  }
  EXPECT_EQ(EncodeFp8(Fp8::kE4M3FN, kNan), 0x7F);
  EXPECT_EQ(EncodeFp8(Fp8::kE4M3FNUZ, -kNan), 0x80);
  EXPECT_EQ(EncodeFp8(Fp8::kE4M3FNUZ, -0.0f), 0);
}

TEST(RoundToFp8, AStaticScaleByHand) {
  // 0.3 / 0.1 = 3 is a code; 5.3 / 0.1 = 53 lies between 52 and 56; 100 / 0.1 is beyond 448.
  std::vector<float> x = {0.3f, 5.3f, -100.0f, 0.0f};
  RoundToFp8(Fp8::kE4M3FN, 0.1f, 4, x.data());
  EXPECT_EQ(x, (std::vector<float>{3 * 0.1f, 52 * 0.1f, -448 * 0.1f, 0}));
}

using Rounding = void (*)(Fp8, float, int64_t, float*);

void ExpectEqualBits(Rounding fast, Rounding reference, Fp8 format, float scale) {
  std::vector<float> a = Corners(format);
  for (float& value : a) value *= scale;
  a.insert(a.end(), {kInfinity, -kInfinity, kNan});  // and no whole number of vectors
  std::vector<float> b = a;
  fast(format, scale, static_cast<int64_t>(a.size()), a.data());
  reference(format, scale, static_cast<int64_t>(b.size()), b.data());
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      ASSERT_TRUE(std::isnan(a[i])) << i;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(a[i]), std::bit_cast<uint32_t>(b[i])) << b[i];
    }
  }
}

TEST(RoundToFp8, IsTheReferenceToTheBit) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const Fp8 format : kFormats) {
      for (const float scale : {1.0f, 0.02f, 0.0133928573f, 3.0f}) {
        ExpectEqualBits(RoundToFp8, RoundToFp8Reference, format, scale);
        ExpectEqualBits(EncodeToFp8, EncodeToFp8Reference, format, scale);
      }
    }
  }
}

TEST(EncodeToFp8, CodesFitIntoBf16) {
  for (const Fp8 format : kFormats) {
    std::vector<float> x = Corners(format);
    EncodeToFp8(format, 1, static_cast<int64_t>(x.size()), x.data());
    for (const float value : x) ASSERT_EQ(FromBf16(ToBf16(value)), value);
  }
}

}  // namespace
}  // namespace assay::kernels
