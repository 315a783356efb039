#include "kernels/dense_matmul/dense_matmul_gpu.h"

#include <string>

#include "kernels/dense_matmul/dense_matmul.h"
#include "kernels/dense_matmul/terms_test_support.h"
#include "kernels/gpu/gpu_test_support.h"
#include "kernels/router_logits/router_logits_gpu.h"

namespace assay::kernels::gpu {
namespace {

struct NamedBackend {
  const char* name;
  std::unique_ptr<DenseBackend> backend;
};
std::vector<NamedBackend> Backends() {
  std::vector<NamedBackend> all;
  all.push_back({"tiles", MakeTileBackend()});
  all.push_back({"few rows", MakeFewRowsBackend(MakeTileBackend())});
  if (auto library = MakeLibraryBackend()) all.push_back({"library", std::move(library)});
  return all;
}

TEST(DenseMatmulGpu, MatchesTheReferenceInEachForm) {
  const Stream stream;
  const struct {
    int64_t rows, columns, k;
  } cases[] = {{1, 2, 8},       {1, 192, 192}, {3, 34, 64},   {5, 50, 2880},   {9, 64, 72},
               {16, 320, 2880}, {17, 128, 72}, {64, 130, 96}, {101, 160, 192}, {257, 384, 136}};
  for (const auto& [name, backend] : Backends()) {
    for (const auto& c : cases) {
      TestData data(static_cast<uint32_t>(c.rows + c.columns));
      const Bf16Values x(data.Values(c.rows * c.k)), w(data.Values(c.columns * c.k));
      const Bf16Values bias(data.Values(c.columns));
      const std::vector<float> before = data.Values(c.rows * c.columns);
      std::vector<float> expected(before.size());
      DenseMatmulReference(x.wide.data(), c.rows, c.k, w.wide.data(), bias.wide.data(), c.columns,
                           expected.data());
      const auto device_x = Input(stream, x.rounded), device_w = Input(stream, w.rounded);
      const auto device_bias = Input(stream, bias.wide), added = Input(stream, before);
      const auto device_bias16 = Input(stream, bias.rounded);
      const auto set = Unwritten<float>(stream, added.size());
      const auto rounded = Unwritten<Bf16>(stream, added.size());
      DenseMatmul product{device_x.data(),
                          c.rows,
                          c.k,
                          device_w.data(),
                          c.columns,
                          device_bias.data(),
                          device_bias16.data(),
                          nullptr,
                          set.data(),
                          false};
      backend->Multiply(stream.handle(), product);
      product.y_float32 = added.data();
      product.add = true;
      backend->Multiply(stream.handle(), product);
      product.y_float32 = nullptr;
      product.y_bf16 = rounded.data();
      product.add = false;
      backend->Multiply(stream.handle(), product);
      const std::vector<float> y = ToHost(stream, set), sum = ToHost(stream, added);
      const std::vector<float> y16 = Floats(ToHost(stream, rounded));
      for (int64_t i = 0; i < c.rows * c.columns; ++i) {
        const auto at = static_cast<size_t>(i);
        const double size = SumOfTerms(x.wide, i / c.columns, w.wide, i % c.columns, c.k);
        ASSERT_TRUE(Close(y[at], expected[at], kMatrixInstruction, size))
            << name << " " << c.rows << "x" << c.columns << "x" << c.k << " at " << i << ": " << y[at]
            << " vs " << expected[at];
        ASSERT_TRUE(Close(sum[at], before[at] + static_cast<double>(expected[at]), kMatrixInstruction, size))
            << name;
        // The library seems to round some sums before it adds the bias, and once more after.
        const bool twice = std::string(name) == "library";
        const double first_rounding =
            twice ? std::abs(expected[at]) + std::abs(bias.wide[at % static_cast<size_t>(c.columns)]) : 0;
        ASSERT_TRUE(
            Close(y16[at], expected[at], kBf16Result, size + first_rounding / (256 * kBf16Result.absolute)))
            << name << " " << c.rows << "x" << c.columns << "x" << c.k << " at " << i << ": " << y16[at]
            << " vs " << expected[at] << ", size " << size;
      }
    }
  }
}

TEST(DenseMatmulGpu, WithoutBiasNothingIsAdded) {
  const Stream stream;
  for (const auto& [name, backend] : Backends()) {
    const Bf16Values x(TestData(1).Values(64)), w(TestData(2).Values(2 * 64));
    const auto device_x = Input(stream, x.rounded), device_w = Input(stream, w.rounded);
    const auto y = Unwritten<float>(stream, 2);
    backend->Multiply(stream.handle(), {device_x.data(), 1, 64, device_w.data(), 2, nullptr, nullptr, nullptr,
                                        y.data(), false});
    std::vector<float> expected(2);
    DenseMatmulReference(x.wide.data(), 1, 64, w.wide.data(), nullptr, 2, expected.data());
    const std::vector<float> out = ToHost(stream, y);
    for (size_t i = 0; i < 2; ++i)
      EXPECT_TRUE(Close(out[i], expected[i], kMatrixInstruction,
                        SumOfTerms(x.wide, 0, w.wide, static_cast<int64_t>(i), 64)))
          << name;
  }
}

// Of the tiles: any rows give a row the same bits.
TEST(DenseMatmulGpu, OtherRowsDoNotChangeABitOfTheTiles) {
  const Stream stream;
  const int64_t columns = 200, k = 328;
  const Bf16Values x(TestData(3).Values(150 * k)), w(TestData(4).Values(columns * k));
  const auto device_x = Input(stream, x.rounded), device_w = Input(stream, w.rounded);
  const auto backend = MakeTileBackend();
  const auto run = [&](int64_t first, int64_t rows) {
    const auto y = Unwritten<float>(stream, rows * columns);
    backend->Multiply(stream.handle(), {device_x.data() + first * k, rows, k, device_w.data(), columns,
                                        nullptr, nullptr, nullptr, y.data(), false});
    return ToHost(stream, y);
  };
  const std::vector<float> whole = run(0, 150);
  for (const auto& [first, rows] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {149, 1}, {7, 20}, {40, 64}}) {
    EXPECT_EQ(run(first, rows),
              std::vector<float>(whole.begin() + first * columns, whole.begin() + (first + rows) * columns));
  }
}

TEST(RouterLogitsGpu, MatchesTheReference) {
  const Stream stream;
  for (const int64_t experts : {4, 32, 33, 128}) {
    for (const int64_t rows : {1, 3, 4, 50}) {
      const int64_t hidden = 192;
      TestData data(static_cast<uint32_t>(experts + rows));
      const std::vector<float> x = data.Values(rows * hidden), w = data.Values(experts * hidden);
      const std::vector<float> bias = data.Values(experts);
      std::vector<float> expected(static_cast<size_t>(rows * experts));
      DenseMatmulReference(x.data(), rows, hidden, w.data(), bias.data(), experts, expected.data());
      const auto device_x = Input(stream, x), device_w = Input(stream, w), device_bias = Input(stream, bias);
      const auto logits = Unwritten<float>(stream, rows * experts);
      RouterLogits(stream.handle(), {device_x.data(), rows, hidden, device_w.data(), device_bias.data(),
                                     experts, logits.data()});
      const std::vector<float> y = ToHost(stream, logits);
      for (int64_t i = 0; i < rows * experts; ++i) {
        const double size = SumOfTerms(x, i / experts, w, i % experts, hidden);
        ASSERT_TRUE(Close(y[static_cast<size_t>(i)], expected[static_cast<size_t>(i)], kFloat32, size));
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels::gpu
