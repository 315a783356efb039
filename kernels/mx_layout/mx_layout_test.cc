#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/bf16/bf16.h"
#include "kernels/mx_layout/padding.h"
#include "kernels/mx_layout/scale_layout.h"
#include "kernels/mx_layout/value_layout.h"
#include "kernels/mxfp4/mxfp4.h"
#include "kernels/test_data.h"

namespace assay::kernels {
namespace {

using Bytes = std::vector<uint8_t>;
using Sides = std::vector<int64_t>;

// view(sides).permute(order).flatten(), as the layouts' authors write them.
Bytes ViewAndPermute(const Bytes& from, const Sides& sides, const Sides& order) {
  Sides strides(sides.size(), 1);
  for (size_t i = sides.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * sides[i + 1];
  EXPECT_EQ(strides[0] * sides[0], static_cast<int64_t>(from.size()));
  Bytes to;
  Sides at(sides.size());
  while (to.size() < from.size()) {
    int64_t offset = 0;
    for (size_t i = 0; i < order.size(); ++i) offset += at[i] * strides[static_cast<size_t>(order[i])];
    to.push_back(from[static_cast<size_t>(offset)]);
    for (size_t i = order.size(); i-- > 0;) {
      if (++at[i] < sides[static_cast<size_t>(order[i])]) break;
      at[i] = 0;
    }
  }
  return to;
}

// [n, k] with zeros added.
Bytes Padded(const Bytes& from, int64_t n, int64_t k, int64_t to_n, int64_t to_k) {
  Bytes to(static_cast<size_t>(to_n * to_k));
  for (int64_t i = 0; i < n; ++i) std::copy_n(from.begin() + i * k, k, to.begin() + i * to_k);
  return to;
}

Bytes ScalesByView(ScaleLayout layout, const Bytes& padded, int64_t n, int64_t k) {
  switch (layout) {
    case ScaleLayout::kStrided:
      return padded;
    case ScaleLayout::kCdna4:
      return ViewAndPermute(padded, {n / 32, 2, 16, k / 8, 2, 4}, {0, 3, 5, 2, 4, 1});
    case ScaleLayout::kHopper4:
      return ViewAndPermute(padded, {n / 128, 2, 4, 2, 8, k / 2, 2}, {0, 2, 5, 1, 4, 6, 3});
    case ScaleLayout::kHopper8:
      return ViewAndPermute(padded, {n / 256, 2, 8, 2, 8, k / 2, 2}, {0, 2, 5, 1, 4, 6, 3});
    case ScaleLayout::kBlackwell:
      return ViewAndPermute(padded, {n / 128, 4, 32, k / 4, 4}, {0, 3, 2, 1, 4});
  }
  return {};
}

constexpr ScaleLayout kScaleLayouts[] = {ScaleLayout::kStrided, ScaleLayout::kCdna4, ScaleLayout::kHopper4,
                                         ScaleLayout::kHopper8, ScaleLayout::kBlackwell};

TEST(ScaleLayout, IsTheAuthorsViewAndPermutation) {
  for (const ScaleLayout layout : kScaleLayouts) {
    for (const ScaleShape shape :
         {ScaleShape{256, 8}, {512, 16}, {6144, 96}, {1024, 24}, {32, 8}, {96, 40}}) {
      const Bytes scales = TestData(1).Bytes(shape.n * shape.k);
      const auto stored = StoredShape(layout, shape);
      ASSERT_TRUE(stored);
      EXPECT_EQ(
          *LayOutScales(layout, shape, scales),
          ScalesByView(layout, Padded(scales, shape.n, shape.k, stored->n, stored->k), stored->n, stored->k))
          << static_cast<int>(layout) << ": " << shape.n << " x " << shape.k;
    }
  }
}

TEST(ScaleLayout, ComesBackFromEveryLayout) {
  for (const ScaleLayout layout : kScaleLayouts) {
    for (int64_t n = 32; n <= 320; n += 32) {
      for (const int64_t k : {8, 16, 24, 96}) {
        const Bytes scales = TestData(static_cast<uint32_t>(n * k)).Bytes(n * k);
        const auto stored = LayOutScales(layout, {n, k}, scales);
        ASSERT_TRUE(stored);
        EXPECT_EQ(*ReadScales(layout, {n, k}, *stored), scales) << n << " x " << k;
      }
    }
  }
}

TEST(ScaleLayout, PadsWhatItCanByItself) {
  EXPECT_EQ(*StoredShape(ScaleLayout::kStrided, {5760, 90}), (ScaleShape{5760, 90}));
  EXPECT_EQ(*StoredShape(ScaleLayout::kHopper4, {5760, 90}), (ScaleShape{5760, 90}));
  EXPECT_EQ(*StoredShape(ScaleLayout::kHopper8, {5760, 91}), (ScaleShape{5888, 92}));
  EXPECT_EQ(*StoredShape(ScaleLayout::kBlackwell, {2880, 90}), (ScaleShape{2944, 96}));
  for (const ScaleLayout layout : {ScaleLayout::kHopper8, ScaleLayout::kBlackwell}) {
    const Bytes ones(37 * 5, 1);
    const Bytes stored = *LayOutScales(layout, {37, 5}, ones);
    EXPECT_EQ(std::accumulate(stored.begin(), stored.end(), 0), 37 * 5) << "padding is zero";
    EXPECT_EQ(*ReadScales(layout, {37, 5}, stored), ones);
  }
}

TEST(ScaleLayout, Cdna4ShowsWhyItRefusesAShape) {
  EXPECT_EQ(StoredShape(ScaleLayout::kCdna4, {5760, 90}).error().message,
            "CDNA4 scales need K to be a multiple of 256: K = 2880 has 90 scales, 90 % 8 = 2; pad to 3072");
  EXPECT_EQ(StoredShape(ScaleLayout::kCdna4, {720, 96}).error().message,
            "CDNA4 scales need N to be a multiple of 32: 720 % 32 = 16; pad to 736");
  EXPECT_EQ(*StoredShape(ScaleLayout::kCdna4, {6144, 96}), (ScaleShape{6144, 96}));
  EXPECT_FALSE(LayOutScales(ScaleLayout::kCdna4, {5760, 90}, {}));
}

TEST(ScaleLayout, BlackwellActivationsBeginEachExpertAt128) {
  const int64_t rows[] = {0, 1, 128, 129, 0, 7};
  EXPECT_EQ(BlackwellActivationRows(rows), (std::vector<int64_t>{0, 0, 128, 256, 512, 512, 640}));
}

Bytes ValuesByView(ValueLayout layout, const Bytes& padded, int64_t n, int64_t k) {
  // 0: n/16  1: n/8%2  2: n/2%4  3: n%2  4: k/32 and then k%32 as the instruction cuts it.
  if (layout == ValueLayout::kHopperMma3)
    return ViewAndPermute(padded, {n / 16, 2, 4, 2, k / 32, 4, 2, 4}, {0, 2, 4, 3, 7, 5, 6, 1});
  if (layout == ValueLayout::kHopperMma2)
    return ViewAndPermute(padded, {n / 16, 2, 4, 2, k / 32, 2, 4, 4}, {0, 2, 4, 3, 6, 5, 1, 7});
  return padded;
}

constexpr ValueLayout kValueLayouts[] = {ValueLayout::kStrided, ValueLayout::kHopperMma2,
                                         ValueLayout::kHopperMma3, ValueLayout::kBlackwell};

TEST(ValueLayout, IsTheAuthorsViewAndPermutation) {
  for (const ValueLayout layout : kValueLayouts) {
    for (const ValueShape shape : {ValueShape{64, 256}, {128, 512}, {5760, 1440}, {20, 33}}) {
      const Bytes bytes = TestData(2).Bytes(shape.n * shape.k);
      const ValueShape stored = StoredShape(layout, shape);
      Bytes expected =
          ValuesByView(layout, Padded(bytes, shape.n, shape.k, stored.n, stored.k), stored.n, stored.k);
      Bytes found = LayOutValues(layout, shape, bytes);
      EXPECT_EQ(ReadValues(layout, shape, found), bytes);
      if (layout == ValueLayout::kHopperMma2 || layout == ValueLayout::kHopperMma3) {
        for (size_t i = 0; i < found.size(); i += 4) {
          const uint32_t word = SeparateNibbles(found[i] | found[i + 1] << 8 | found[i + 2] << 16 |
                                                static_cast<uint32_t>(found[i + 3]) << 24);
          for (size_t b = 0; b < 4; ++b) found[i + b] = static_cast<uint8_t>(word >> (8 * b));
        }
      }
      EXPECT_EQ(found, expected) << static_cast<int>(layout) << ": " << shape.n << " x " << shape.k;
    }
  }
}

TEST(ValueLayout, PadsByItself) {
  EXPECT_EQ(StoredShape(ValueLayout::kHopperMma3, {5760, 1440}), (ValueShape{5760, 1536}));
  EXPECT_EQ(StoredShape(ValueLayout::kHopperMma2, {720, 256}), (ValueShape{768, 256}));
  EXPECT_EQ(StoredShape(ValueLayout::kBlackwell, {2880, 1440}), (ValueShape{2880, 1536}));
}

// The instructions with which a Hopper kernel takes a word apart: pairs of bf16, 2^-126 of their values.
TEST(ValueLayout, KernelsDecodeHoppersWordWithShiftsAndMasks) {
  TestData data(3);
  for (int i = 0; i < 20000; ++i) {
    const Bytes bytes = i < 256 ? Bytes(4, static_cast<uint8_t>(i)) : data.Bytes(4);
    const uint32_t x =
        InterleaveNibbles(bytes[0] | bytes[1] << 8 | bytes[2] << 16 | static_cast<uint32_t>(bytes[3]) << 24);
    const uint32_t pairs[4] = {x & 0x81C081C0u, x << 3 & 0x81C081C0u, x << 6 & 0x81C081C0u,
                               (x << 1 & 0x80008000u) | (x >> 3 & 0x01800180u) | (x >> 7 & 0x00400040u)};
    for (size_t b = 0; b < 4; ++b) {
      ASSERT_EQ(FromBf16(static_cast<Bf16>(pairs[b])) * 0x1p126f, DecodeE2M1(bytes[b] & 15));
      ASSERT_EQ(FromBf16(static_cast<Bf16>(pairs[b] >> 16)) * 0x1p126f, DecodeE2M1(bytes[b] >> 4));
    }
  }
}

TEST(ValueLayout, EveryBitOfAWordIsUsedOnce) {
  for (int bit = 0; bit < 32; ++bit) {
    const uint32_t word = InterleaveNibbles(1u << bit);
    EXPECT_EQ(std::popcount(word), 1) << bit;
    EXPECT_EQ(SeparateNibbles(word), 1u << bit);
  }
  EXPECT_EQ(InterleaveNibbles(~0u), ~0u);
}

TEST(Padding, GptOssOnEveryPlatform) {
  const struct {
    const char* name;
    MoeKernels kernels;
    Platform platform;
    ExpertSizes padded;  // of 2880 x 2880
  } rows[] = {
      {"DeepGEMM", MoeKernels::kDeepGemm, Platform::kCuda, {2944, 2944}},
      {"Marlin", MoeKernels::kMarlin, Platform::kCuda, {3072, 2944}},
      {"Marlin on XPU", MoeKernels::kMarlin, Platform::kXpu, {2944, 2944}},
      {"Marlin on ROCm", MoeKernels::kMarlin, Platform::kRocm, {3072, 2944}},
      {"TRTLLM", MoeKernels::kFlashInferTrtllm, Platform::kCuda, {3072, 3072}},
      {"CUTLASS", MoeKernels::kFlashInferCutlass, Platform::kCuda, {2944, 2944}},
      {"Triton on ROCm", MoeKernels::kTriton, Platform::kRocm, {3072, 3072}},
      {"AITER", MoeKernels::kAiter, Platform::kRocm, {3072, 3072}},
      {"Triton on CUDA", MoeKernels::kTriton, Platform::kCuda, {2880, 2880}},
      {"CPU", MoeKernels::kTriton, Platform::kCpu, {2880, 2880}},
      {"emulation", MoeKernels::kEmulation, Platform::kRocm, {2880, 2880}},
  };
  for (const auto& row : rows)
    EXPECT_EQ(PadExpertSizes(row.kernels, row.platform, {2880, 2880}), row.padded) << row.name;
  EXPECT_EQ(PadExpertSizes(MoeKernels::kTriton, Platform::kCuda, {2880, 360}), (ExpertSizes{2880, 384}));
  EXPECT_EQ(PadExpertSizes(MoeKernels::kTriton, Platform::kCpu, {2890, 360}), (ExpertSizes{2912, 384}));
}

// Tensor parallelism cuts the 5760 gate and up columns before they are padded.
TEST(Padding, RocmsColumnsByTensorParallelDegree) {
  const struct {
    int64_t ranks, columns, padded;
  } rows[] = {{1, 5760, 6144}, {2, 2880, 3072}, {4, 1440, 1536}, {8, 720, 1024}};
  for (const auto& row : rows) {
    const ExpertSizes sizes{2880, 2880 / row.ranks};
    EXPECT_EQ(2 * sizes.intermediate, row.columns);
    const ExpertSizes padded = PadExpertSizes(MoeKernels::kTriton, Platform::kRocm, sizes);
    EXPECT_EQ(2 * padded.intermediate, row.padded);
    EXPECT_TRUE(StoredShape(ScaleLayout::kCdna4, {2 * padded.intermediate, padded.hidden / 32}));
    EXPECT_TRUE(StoredShape(ScaleLayout::kCdna4, {padded.hidden, padded.intermediate / 32}));
  }
}

}  // namespace
}  // namespace assay::kernels
