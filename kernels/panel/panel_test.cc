#include "kernels/panel/panel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

struct Backend {
  const char* name;
  PanelFunction multiply;
};
std::vector<Backend> Backends() {
  std::vector<Backend> backends{{"portable", PortablePanelMatmul()}};
  if (Avx512Bf16PanelMatmul() != nullptr) backends.push_back({"avx512bf16", Avx512Bf16PanelMatmul()});
  return backends;
}

struct Product {
  int64_t rows, columns, k, terms;

  std::vector<Bf16> x, weights;
  std::vector<float> Run(PanelFunction multiply, int64_t first_row, int64_t n_rows, int64_t panels) const {
    std::vector<Bf16> packed(static_cast<size_t>(PanelCount(columns) * PanelElements(k)));
    PackPanels(weights.data(), columns, k, packed.data());
    std::vector<const Bf16*> pointers;
    for (int64_t r = 0; r < n_rows; ++r) pointers.push_back(x.data() + (first_row + r) * terms * k);
    std::vector<float> out(static_cast<size_t>(n_rows * panels * kPanel), -1);
    multiply({packed.data(), panels, k}, {pointers.data(), n_rows, terms}, out.data(), panels * kPanel);
    return out;
  }
};
Product MakeProduct(int64_t rows, int64_t columns, int64_t k, int64_t terms) {
  TestData data(static_cast<uint32_t>(rows * 1000 + columns * 10 + k));
  return {rows, columns, k, terms, Rounded(data.Values(rows * terms * k)), Rounded(data.Values(columns * k))};
}

TEST(PanelMatmul, MatchesTheSumOfProducts) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const int64_t rows : {1, 2, 3, 4, 7, 8, 12, 13, 25}) {
      for (const int64_t columns : {1, 31, 32, 33, 160}) {
        for (const int64_t k : {2, 32, 192}) {
          const int64_t terms = 1 + rows % 2;
          const Product product = MakeProduct(rows, columns, k, terms);
          for (const Backend& backend : Backends()) {
            const int64_t panels = PanelCount(columns);
            const std::vector<float> out = product.Run(backend.multiply, 0, rows, panels);
            for (int64_t r = 0; r < rows; ++r) {
              for (int64_t n = 0; n < panels * kPanel; ++n) {
                double sum = 0, size = 0;
                for (int64_t i = 0; n < columns && i < terms * k; ++i) {
                  const double term =
                      static_cast<double>(FromBf16(product.x[static_cast<size_t>(r * terms * k + i)])) *
                      FromBf16(product.weights[static_cast<size_t>(n * k + i % k)]);
                  sum += term;
                  size += std::abs(term);
                }
                ASSERT_TRUE(Close(out[static_cast<size_t>(r * panels * kPanel + n)], sum, kFloat32, size))
                    << backend.name << " rows " << rows << " columns " << columns << " k " << k << " at " << r
                    << "," << n << ": " << out[static_cast<size_t>(r * panels * kPanel + n)] << " vs " << sum;
              }
            }
          }
        }
      }
    }
  }
}

TEST(PanelMatmul, GivesARowTheSameBitsInEveryBatch) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const int64_t terms : {1, 2}) {
      const Product product = MakeProduct(40, 160, 192, terms);
      for (const Backend& backend : Backends()) {
        const std::vector<float> alone[] = {product.Run(backend.multiply, 0, 1, 5),
                                            product.Run(backend.multiply, 39, 1, 5)};
        for (const int64_t rows : {2, 3, 4, 5, 8, 11, 12, 23, 24, 40}) {
          const std::vector<float> first = product.Run(backend.multiply, 0, rows, 5);
          const std::vector<float> last = product.Run(backend.multiply, 40 - rows, rows, 5);
          EXPECT_EQ(std::vector<float>(first.begin(), first.begin() + 160), alone[0]) << backend.name << rows;
          EXPECT_EQ(std::vector<float>(last.end() - 160, last.end()), alone[1]) << backend.name << rows;
        }
      }
    }
  }
}

}  // namespace
}  // namespace assay::kernels
