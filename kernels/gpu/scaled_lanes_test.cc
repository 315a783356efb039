#include "kernels/gpu/scaled_lanes.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernels/fp8/fp8.h"
#include "kernels/mxfp4/mxfp4.h"
#include "kernels/test_data.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kLanes = 64, kLines = 16;

// What a wave hands to the instruction, and gets.
struct Wave {
  std::array<std::array<uint8_t, 16>, kLanes> a;  // 32 FP4 a lane
  std::array<uint8_t, kLanes> a_scale;            // the byte that opsel names
  std::array<std::array<uint8_t, 32>, kLanes> b;  // 32 FP8 a lane
  std::array<std::array<double, 4>, kLanes> sums = {};
};

// v_mfma_scale_f32_16x16x128_f8f6f4 with cbsz 4 and blgp 0 and b's scale 1, by where AMD's article on the
// matrix cores of CDNA4, Triton's layout plots and AMD's simulator have things: element (row, k) of a 4-bit
// A, element (k, column) of an 8-bit B beside it, the scale of a row's block, sum (row, column).
void PlayInstruction(Wave& wave) {
  const auto a = [&](int row, int k) {
    const uint8_t byte = wave.a[static_cast<size_t>(row + 16 * (k / 32))][static_cast<size_t>(k % 32 / 2)];
    return DecodeE2M1(k % 2 == 0 ? byte & 15 : byte >> 4);
  };
  const auto b = [&](int k, int column) {
    const size_t lane = static_cast<size_t>(column + 16 * (k / 16 % 4));
    return DecodeFp8(Fp8::kE4M3FN, wave.b[lane][static_cast<size_t>(k / 64 * 16 + k % 16)]);
  };
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) {
      double sum = 0;
      for (int k = 0; k < 128; ++k) {
        const double scale = DecodeE8M0(wave.a_scale[static_cast<size_t>(row + 16 * (k / 32))]);
        sum += scale * a(row, k) * b(k, column);
      }
      wave.sums[static_cast<size_t>(column + 16 * (row / 4))][static_cast<size_t>(row % 4)] += sum;
    }
  }
}

TEST(ScaledLanes, AWaveThatLoadsAndStoresByThemHasThePlainProduct) {
  TestData data(7);
  // Weights [16][4 blocks] as a checkpoint has them, FP8 of tokens [16][128].
  const std::vector<uint8_t> blocks = data.Bytes(kLines * 4 * kMxBlockBytes);
  const std::vector<uint8_t> scales = data.Bytes(kLines * 4, 110, 140);
  std::vector<uint8_t> tokens = data.Bytes(kLines * scaled::kK);
  for (uint8_t& byte : tokens) byte = (byte & 0x7F) == 0x7F ? 0 : byte;  // no NaN

  Wave wave;
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto l = static_cast<size_t>(lane);
    const int block = scaled::LineOf(lane) * 4 + scaled::BlockOf(lane);
    std::copy_n(blocks.begin() + block * kMxBlockBytes, kMxBlockBytes, wave.a[l].begin());
    wave.a_scale[l] = scales[static_cast<size_t>(block)];
    for (int half = 0; half < 2; ++half) {
      std::copy_n(tokens.begin() + scaled::LineOf(lane) * scaled::kK +
                      scaled::PieceOf(lane, half) * scaled::kPieceBytes,
                  scaled::kPieceBytes, wave.b[l].begin() + half * scaled::kPieceBytes);
    }
  }
  PlayInstruction(wave);

  std::vector<float> weights(kLines * scaled::kK);
  DecodeMxfp4(blocks.data(), scales.data(), kLines * 4, weights.data());
  std::array<int, kLines* kLines> written = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int column = scaled::RowOfSum(lane, i), token = scaled::LineOf(lane);
      double expected = 0, size = 0;
      for (int k = 0; k < scaled::kK; ++k) {
        const double product = static_cast<double>(weights[static_cast<size_t>(column * scaled::kK + k)]) *
                               DecodeFp8(Fp8::kE4M3FN, tokens[static_cast<size_t>(token * scaled::kK + k)]);
        expected += product;
        size += std::abs(product);
      }
      EXPECT_NEAR(wave.sums[static_cast<size_t>(lane)][static_cast<size_t>(i)], expected, 1e-12 * size)
          << "column " << column << " token " << token;
      ++written[static_cast<size_t>(column * kLines + token)];
    }
  }
  for (const int count : written) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace assay::kernels::gpu
