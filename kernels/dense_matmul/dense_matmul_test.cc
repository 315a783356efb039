#include "kernels/dense_matmul/dense_matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/router_logits/router_logits.h"
#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

TEST(DenseMatmul, MatchesTheReferenceOnRoundedInputs) {
  const struct {
    const char* name;
    int64_t rows, columns, k;
  } cases[] = {{"one of each", 1, 1, 2},     {"decode", 1, 192, 192},    {"odd columns", 3, 33, 64},
               {"many rows", 101, 160, 192}, {"wide head", 5, 1000, 96}, {"long k", 13, 64, 2880}};
  for (const auto& c : cases) {
    TestData data(static_cast<uint32_t>(c.rows + c.columns));
    const std::vector<Bf16> x = Rounded(data.Values(c.rows * c.k)), w = Rounded(data.Values(c.columns * c.k));
    const std::vector<float> bias = data.Values(c.columns);
    std::vector<float> expected(static_cast<size_t>(c.rows * c.columns)), y(expected.size(), 7.0f);
    DenseMatmulReference(Widened(x).data(), c.rows, c.k, Widened(w).data(), bias.data(), c.columns,
                         expected.data());
    const DenseWeights packed = PackDense(w, bias, c.columns, c.k);
    DenseMatmul(packed, {x.data(), c.rows, 1}, 0, packed.Panels(), Store::kAdd, y.data(), c.columns);
    for (int64_t i = 0; i < c.rows * c.columns; ++i) {
      double size = 1;
      for (int64_t j = 0; j < c.k; ++j) {
        size += std::abs(FromBf16(x[static_cast<size_t>(i / c.columns * c.k + j)]) *
                         FromBf16(w[static_cast<size_t>(i % c.columns * c.k + j)]));
      }
      ASSERT_TRUE(Close(y[static_cast<size_t>(i)] - 7.0, expected[static_cast<size_t>(i)], kFloat32, size))
          << c.name << " at " << i;
    }
  }
}

TEST(DenseMatmul, PanelsCutAnywhereGiveTheSameBits) {
  TestData data(3);
  const int64_t rows = 50, columns = 200, k = 192;
  const std::vector<Bf16> x = Rounded(data.Values(rows * k)), w = Rounded(data.Values(columns * k));
  const DenseWeights packed = PackDense(w, data.Values(columns), columns, k);
  std::vector<float> whole(rows * columns), cut(rows * columns);
  DenseMatmul(packed, {x.data(), rows, 1}, 0, packed.Panels(), Store::kSet, whole.data(), columns);
  for (int64_t row = 0; row < rows; row += 7) {
    const int64_t n = std::min<int64_t>(7, rows - row);
    for (const auto& [first, last] : {std::pair{0, 1}, {1, 3}, {3, 7}}) {
      DenseMatmul(packed, {x.data() + row * k, n, 1}, first, last, Store::kSet, cut.data() + row * columns,
                  columns);
    }
  }
  EXPECT_EQ(whole, cut);
}

TEST(RouterLogits, MatchTheReferenceInFloat32) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const int64_t experts : {4, 16, 32, 50, 128}) {
      for (const int64_t rows : {1, 7, 8, 21}) {
        const int64_t hidden = 192;
        TestData data(static_cast<uint32_t>(experts + rows));
        const std::vector<float> x = data.Values(rows * hidden), w = data.Values(experts * hidden);
        const std::vector<float> bias = data.Values(experts);
        std::vector<float> expected(static_cast<size_t>(rows * experts)), y(expected.size());
        DenseMatmulReference(x.data(), rows, hidden, w.data(), bias.data(), experts, expected.data());
        const RouterWeights packed = PackRouter(w, bias, experts, hidden);
        RouterLogits(packed, x.data(), hidden, rows, y.data());
        for (int64_t i = 0; i < rows * experts; ++i) {
          double size = 1;
          for (int64_t j = 0; j < hidden; ++j) {
            size += std::abs(x[static_cast<size_t>(i / experts * hidden + j)] *
                             w[static_cast<size_t>(i % experts * hidden + j)]);
          }
          ASSERT_TRUE(Close(y[static_cast<size_t>(i)], expected[static_cast<size_t>(i)], kFloat32, size));
        }
        std::vector<float> last(static_cast<size_t>(experts));
        RouterLogits(packed, x.data() + (rows - 1) * hidden, hidden, 1, last.data());
        EXPECT_TRUE(std::equal(last.begin(), last.end(), y.end() - experts))
            << "a row alone has the same bits";
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
