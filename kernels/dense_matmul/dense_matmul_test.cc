#include "kernels/dense_matmul/dense_matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/dense_matmul/terms_test_support.h"
#include "kernels/panel/panel_test_values.h"
#include "kernels/router_logits/router_logits.h"
#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

// Rows of activations and what they stand for.
struct Input {
  ActivationRows rows;
  std::vector<float> values;
};
Input MakeInput(Activations kind, const std::vector<float>& x, int64_t rows, int64_t k) {
  Input input{ActivationRows(kind, rows, k), {}};
  for (int64_t r = 0; r < rows; ++r) input.rows.Set(r, x.data() + r * k);
  input.values = ValuesOf(kind, x, k);
  return input;
}

// A bf16 dot product adds the two terms of a pair in one chain, twice as long as the reference's.
struct Mode {
  const char* name;
  DenseDtype weights;
  Activations activations;
  Tolerance tolerance;
};
const Mode kModes[] = {{"bf16", DenseDtype::kBf16, Activations::kBf16, kFloat32},
                       {"bf16 pair", DenseDtype::kBf16, Activations::kBf16Pair, kBf16Pairs},
                       {"int8", DenseDtype::kInt8, Activations::kInt8, kFloat32}};

TEST(DenseMatmul, MatchesTheReferenceOnRoundedInputs) {
  const struct {
    const char* name;
    int64_t rows, columns, k;
  } cases[] = {{"one of each", 1, 1, 2},      {"decode", 1, 192, 192},    {"odd columns", 3, 33, 64},
               {"many rows", 101, 160, 192},  {"wide head", 5, 1000, 96}, {"long k", 13, 64, 2880},
               {"part of a block", 7, 64, 80}};
  for (const Mode& mode : kModes) {
    for (const auto& c : cases) {
      TestData data(static_cast<uint32_t>(c.rows + c.columns));
      const Input x = MakeInput(mode.activations, data.Values(c.rows * c.k), c.rows, c.k);
      const std::vector<Bf16> w = Rounded(data.Values(c.columns * c.k));
      const std::vector<float> bias = data.Values(c.columns);
      const std::vector<float> kept = WeightsOf(mode.weights == DenseDtype::kInt8, w, c.k);
      std::vector<float> expected(static_cast<size_t>(c.rows * c.columns)), y(expected.size(), 7.0f);
      DenseMatmulReference(x.values.data(), c.rows, c.k, kept.data(), bias.data(), c.columns,
                           expected.data());
      const DenseWeights packed = PackDense(w, bias, c.columns, c.k, mode.weights);
      DenseMatmul(packed, {x.rows, c.rows}, 0, packed.Panels(), Store::kAdd, y.data(), c.columns);
      for (int64_t i = 0; i < c.rows * c.columns; ++i) {
        const double size = SumOfTerms(x.values, i / c.columns, kept, i % c.columns, c.k);
        ASSERT_TRUE(
            Close(y[static_cast<size_t>(i)] - 7.0, expected[static_cast<size_t>(i)], mode.tolerance, size))
            << mode.name << " " << c.name << " at " << i;
      }
    }
  }
}

TEST(DenseMatmul, PanelsCutAnywhereGiveTheSameBits) {
  for (const Mode& mode : kModes) {
    TestData data(3);
    const int64_t rows = 150, columns = 200, k = 192;
    const std::vector<float> x = data.Values(rows * k);
    const DenseWeights packed =
        PackDense(Rounded(data.Values(columns * k)), data.Values(columns), columns, k, mode.weights);
    std::vector<float> whole(rows * columns), cut(rows * columns);
    DenseMatmul(packed, {MakeInput(mode.activations, x, rows, k).rows, rows}, 0, packed.Panels(), Store::kSet,
                whole.data(), columns);
    for (int64_t row = 0; row < rows; row += 7) {
      const int64_t n = std::min<int64_t>(7, rows - row);
      const Input part = MakeInput(mode.activations, {x.begin() + row * k, x.begin() + (row + n) * k}, n, k);
      for (const auto& [first, last] : {std::pair{0, 1}, {1, 3}, {3, 7}}) {
        DenseMatmul(packed, {part.rows, n}, first, last, Store::kSet, cut.data() + row * columns, columns);
      }
    }
    EXPECT_EQ(whole, cut) << mode.name;
  }
}

TEST(DenseMatmul, Int8WeightsAreWithinHalfAStep) {
  TestData data(5);
  const int64_t columns = 40, k = 2880;
  const std::vector<Bf16> weights = Rounded(data.Values(columns * k));
  const std::vector<float> values = Widened(weights), kept = WeightsOf(true, weights, k);
  for (size_t block = 0; block < values.size(); block += 32) {
    float largest = 0;
    for (size_t i = block; i < block + 32; ++i) largest = std::max(largest, std::abs(values[i]));
    // The scale is rounded up to bf16, by at most one part in 128.
    for (size_t i = block; i < block + 32; ++i) {
      ASSERT_LE(std::abs(kept[i] - values[i]), 0.5 * largest / 127 * 129 / 128) << i;
    }
  }
}

TEST(DenseMatmul, ANumberThatIsNoneStaysVisible) {
  for (const Mode& mode : kModes) {
    TestData data(6);
    const int64_t rows = 9, columns = 64, k = 96;
    std::vector<float> x = data.Values(rows * k);
    x[4 * k + 50] = std::numeric_limits<float>::quiet_NaN();
    const DenseWeights packed = PackDense(Rounded(data.Values(columns * k)), {}, columns, k, mode.weights);
    std::vector<float> y(rows * columns);
    DenseMatmul(packed, {MakeInput(mode.activations, x, rows, k).rows, rows}, 0, packed.Panels(), Store::kSet,
                y.data(), columns);
    for (int64_t i = 0; i < rows * columns; ++i) {
      ASSERT_EQ(std::isnan(y[static_cast<size_t>(i)]), i / columns == 4) << mode.name << " at " << i;
    }
  }
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
          const double size = SumOfTerms(x, i / experts, w, i % experts, hidden);
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
