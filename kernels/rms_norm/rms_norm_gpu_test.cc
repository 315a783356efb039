#include "kernels/rms_norm/rms_norm_gpu.h"

#include "kernels/fp8/fp8.h"
#include "kernels/gpu/gpu_test_support.h"
#include "kernels/rms_norm/rms_norm.h"

namespace assay::kernels::gpu {
namespace {

TEST(RmsNormGpu, MatchesTheReferenceInEachForm) {
  const Stream stream;
  for (const int64_t n : {1, 15, 17, 192, 2880, 5000}) {
    TestData data(static_cast<uint32_t>(n));
    const std::vector<float> x = data.Values(5 * n), weight = data.Values(n);
    std::vector<float> all(x.size());
    RmsNormReference(x.data(), 5, n, weight.data(), 1e-5, all.data());
    const std::vector<int32_t> rows{4, 0, 2};
    const auto device_x = Input(stream, x), device_weight = Input(stream, weight);
    const auto device_rows = Input(stream, rows);
    const auto bf16 = Unwritten<Bf16>(stream, 3 * n), codes = Unwritten<Bf16>(stream, 3 * n);
    const auto float32 = Unwritten<float>(stream, 3 * n);
    const float scale = 0.02f;
    RmsNorm(stream.handle(), {device_x.data(), 5, n, device_rows.data(), 3, n, device_weight.data(), 1e-5,
                              bf16.data(), codes.data(), scale, float32.data()});
    const std::vector<float> y = ToHost(stream, float32), y16 = Floats(ToHost(stream, bf16));
    const std::vector<float> y8 = Floats(ToHost(stream, codes));
    for (size_t r = 0; r < rows.size(); ++r) {
      for (int64_t i = 0; i < n; ++i) {
        const size_t at = r * static_cast<size_t>(n) + static_cast<size_t>(i);
        const float expected = all[static_cast<size_t>(rows[r] * n + i)];
        ASSERT_TRUE(Close(y[at], expected, kFloat32, 0)) << n << " row " << r << " at " << i;
        ASSERT_EQ(y16[at], FromBf16(ToBf16(y[at])));
        float code = y[at];
        EncodeToFp8Reference(Fp8::kE4M3FN, scale, 1, &code);
        ASSERT_EQ(y8[at], code) << y[at];
      }
    }
  }
}

TEST(RmsNormGpu, SlicesOfRanksAreReadAsTheRowsThatTheyAre) {
  const Stream stream;
  const int64_t rows = 3, n = 2880;
  const std::vector<float> x = TestData(7).Values(rows * n);
  const auto weight = Input(stream, TestData(8).Values(n));
  const auto indices = Input(stream, std::vector<int32_t>{2, 0});
  std::vector<float> whole;
  for (const int64_t ranks : {1, 2, 8}) {
    const int64_t slice = n / ranks;
    std::vector<float> slices;  // [ranks][rows][slice]
    for (int64_t rank = 0; rank < ranks; ++rank) {
      for (int64_t row = 0; row < rows; ++row)
        slices.insert(slices.end(), x.begin() + row * n + rank * slice,
                      x.begin() + row * n + (rank + 1) * slice);
    }
    const auto device_x = Input(stream, slices);
    const auto y = Unwritten<float>(stream, 2 * n);
    RmsNorm(stream.handle(), {device_x.data(), rows, slice, indices.data(), 2, n, weight.data(), 1e-5,
                              nullptr, nullptr, 0, y.data()});
    if (ranks == 1) whole = ToHost(stream, y);
    EXPECT_EQ(ToHost(stream, y), whole) << ranks;
  }
}

TEST(RmsNormGpu, EveryE4M3NumberAndWhatLiesBetweenIsRoundedAsOnTheHost) {
  const Stream stream;
  std::vector<float> x;  // one row each, norm weight 1 and n 1: y is 1 or -1, so the scale makes the number
  for (int byte = 0; byte < 256; ++byte) {
    const float value = DecodeFp8(Fp8::kE4M3FN, static_cast<uint8_t>(byte));
    if (std::isnan(value) || value == 0) continue;
    for (const float nudge : {1.0f, 1.03125f, 1.0625f, 1.07f, 1.125f, 3.0f}) x.push_back(value * nudge);
  }
  const auto row = Input(stream, std::vector<float>{1.0f});
  for (const float value : x) {
    const auto weight = Input(stream, std::vector<float>{value});
    const auto codes = Unwritten<Bf16>(stream, 1);
    RmsNorm(stream.handle(),
            {row.data(), 1, 1, nullptr, 1, 1, weight.data(), 0, nullptr, codes.data(), 1, nullptr});
    const float expected = DecodeFp8(Fp8::kE4M3FN, EncodeFp8(Fp8::kE4M3FN, value));
    ASSERT_EQ(FromBf16(ToHost(stream, codes)[0]), expected) << value;
  }
}

}  // namespace
}  // namespace assay::kernels::gpu
