// Every path of PanelMatmul that this machine can run.
#include "kernels/panel/panel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/panel_test_values.h"
#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

// One packed panel and the numbers in it, [32, k].
struct Panel {
  std::vector<uint8_t> packed;
  std::vector<float> values;
};
Panel MakePanel(PanelFormat format, int64_t k, int64_t columns, uint32_t seed) {
  TestData data(seed);
  Panel panel{std::vector<uint8_t>(static_cast<size_t>(PanelBytes(format, k))), {}};
  if (format == PanelFormat::kMxfp4) {
    const std::vector<uint8_t> blocks = data.Bytes(columns * k / 2),
                               scales = data.Bytes(columns * k / 32, 119, 123);
    std::vector<int64_t> order;
    for (int64_t n = 0; n < columns; ++n) order.push_back(n);
    PackMxfp4Panel(blocks.data(), scales.data(), k, order, panel.packed.data());
    panel.values.resize(static_cast<size_t>(columns * k));
    DecodeMxfp4(blocks.data(), scales.data(), columns * k / 32, panel.values.data());
  } else {
    const bool int8 = format == PanelFormat::kInt8;
    const std::vector<Bf16> weights = Rounded(data.Values(columns * k));
    (int8 ? PackInt8Panels : PackBf16Panels)(weights.data(), columns, k, panel.packed.data());
    panel.values = WeightsOf(int8, weights, k);
  }
  panel.values.resize(static_cast<size_t>(kPanel * k));
  return panel;
}

Activations KindOf(RowFormat format, int64_t terms) {
  if (format == RowFormat::kInt8) return Activations::kInt8;
  return terms == 2 ? Activations::kBf16Pair : Activations::kBf16;
}

std::vector<float> Multiply(const PanelPath& path, const Panel& panel, const ActivationRows& x, int64_t first,
                            int64_t count) {
  std::vector<const uint8_t*> pointers;
  for (int64_t r = 0; r < count; ++r) pointers.push_back(x.Row(first + r));
  std::vector<float> out(static_cast<size_t>(count * kPanel), -1.0f);
  path.multiply(panel.packed.data(), x.K(), {path.rows, x.Terms(), pointers.data(), count}, out.data());
  return out;
}

ActivationRows MakeRows(const PanelPath& path, const std::vector<float>& x, int64_t k, int64_t terms) {
  const int64_t rows = static_cast<int64_t>(x.size()) / k;
  ActivationRows to(KindOf(path.rows, terms), rows, k, path.rows);
  for (int64_t r = 0; r < rows; ++r) to.Set(r, x.data() + r * k);
  return to;
}

void ForEachPath(const std::function<void(const PanelPath&)>& check) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const PanelPath& path : PanelPaths()) {
      if (!path.available()) continue;
      const ::testing::ScopedTrace trace(
          __FILE__, __LINE__,
          std::string(path.name) + " weights " + std::to_string(static_cast<int>(path.weights)));
      check(path);
    }
  }
}

TEST(PanelMatmul, MatchesTheSumOfProducts) {
  ForEachPath([](const PanelPath& path) {
    for (const int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 25, 100}) {
      for (const int64_t k : {32, 64, 160, 288, 2880}) {
        if (k == 2880 && rows != 1 && rows != 13) continue;
        const int64_t terms = 1 + rows % 2, columns = rows % 3 == 0 ? 31 : 32;
        const Panel panel = MakePanel(path.weights, k, columns, static_cast<uint32_t>(rows + k));
        TestData data(static_cast<uint32_t>(rows * k));
        const std::vector<float> x = data.Values(rows * k);
        const std::vector<float> values = ValuesOf(KindOf(path.rows, terms), x, k);
        const std::vector<float> out = Multiply(path, panel, MakeRows(path, x, k, terms), 0, rows);
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t n = 0; n < kPanel; ++n) {
            double sum = 0, size = 0;
            for (int64_t i = 0; i < k; ++i) {
              const double term = static_cast<double>(values[static_cast<size_t>(r * k + i)]) *
                                  panel.values[static_cast<size_t>(n * k + i)];
              sum += term;
              size += std::abs(term);
            }
            ASSERT_TRUE(Close(out[static_cast<size_t>(r * kPanel + n)], sum, kFloat32, size))
                << "rows " << rows << " k " << k << " at " << r << "," << n << ": "
                << out[static_cast<size_t>(r * kPanel + n)] << " vs " << sum;
          }
        }
      }
    }
  });
}

TEST(PanelMatmul, GivesARowTheSameBitsInEveryBatch) {
  ForEachPath([](const PanelPath& path) {
    for (const int64_t terms : {1, 2}) {
      const int64_t k = 544, total = 100;
      const Panel panel = MakePanel(path.weights, k, 32, 1);
      TestData data(2);
      const ActivationRows x = MakeRows(path, data.Values(total * k), k, terms);
      const std::vector<float> whole = Multiply(path, panel, x, 0, total);
      for (const int64_t count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 23, 24, 40, 64}) {
        for (int64_t first = 0; first + count <= total; first += 17) {
          ASSERT_EQ(
              Multiply(path, panel, x, first, count),
              std::vector<float>(whole.begin() + first * kPanel, whole.begin() + (first + count) * kPanel))
              << count << " rows from " << first;
        }
      }
    }
  });
}

// Scales of one leave the integer, which float32 holds exactly; the largest values fill every accumulator.
TEST(PanelMatmul, Int8BlocksAreExact) {
  ForEachPath([](const PanelPath& path) {
    if (path.rows != RowFormat::kInt8) return;
    const bool mxfp4 = path.weights == PanelFormat::kMxfp4;
    for (const bool largest : {true, false}) {
      for (const int64_t rows : {1, 2, 3, 4, 5, 8, 13, 49}) {
        TestData data(static_cast<uint32_t>(rows));
        constexpr int64_t kK = 96;
        std::vector<float> x(static_cast<size_t>(rows * kK));
        for (float& value : x) value = static_cast<float>(data.Below(255) - 127);
        for (size_t i = 0; i < x.size(); i += 32) x[i] = 127;  // so that the scale is one
        if (largest) {
          for (float& value : x) value = value < 0 ? -127.0f : 127.0f;
        }
        Panel panel{std::vector<uint8_t>(static_cast<size_t>(PanelBytes(path.weights, kK))), {}};
        std::vector<int64_t> weights(kPanel * kK);
        if (mxfp4) {
          // The largest weights take the sign of the first row: its sums are as large as they get.
          std::vector<uint8_t> blocks = data.Bytes(kPanel * kK / 2);
          const auto code = [&](int64_t i) { return x[static_cast<size_t>(i)] < 0 ? 15 : 7; };
          for (size_t i = 0; largest && i < blocks.size(); ++i) {
            const auto at = static_cast<int64_t>(i * 2) % kK;
            blocks[i] = static_cast<uint8_t>(code(at) | code(at + 1) << 4);
          }
          const std::vector<uint8_t> scales(kPanel * kK / 32, 128);  // twice the element
          std::vector<int64_t> order;
          for (int64_t n = 0; n < kPanel; ++n) order.push_back(n);
          PackMxfp4Panel(blocks.data(), scales.data(), kK, order, panel.packed.data());
          std::vector<float> values(weights.size());
          DecodeMxfp4(blocks.data(), scales.data(), kPanel * kK / 32, values.data());
          for (size_t i = 0; i < values.size(); ++i) weights[i] = static_cast<int64_t>(values[i]);
        } else {
          std::vector<Bf16> values(weights.size());
          for (size_t i = 0; i < values.size(); ++i) {
            weights[i] = i % 32 == 0 ? 127 : data.Below(255) - 127;
            if (largest) weights[i] = x[i % kK] < 0 ? -127 : 127;
            values[i] = ToBf16(static_cast<float>(weights[i]));
          }
          PackInt8Panels(values.data(), kPanel, kK, panel.packed.data());
        }
        const std::vector<float> out = Multiply(path, panel, MakeRows(path, x, kK, 1), 0, rows);
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t n = 0; n < kPanel; ++n) {
            int64_t sum = 0;
            for (int64_t i = 0; i < kK; ++i) {
              sum += weights[static_cast<size_t>(n * kK + i)] *
                     static_cast<int64_t>(x[static_cast<size_t>(r * kK + i)]);
            }
            ASSERT_EQ(out[static_cast<size_t>(r * kPanel + n)], static_cast<float>(sum))
                << rows << " rows at " << r << "," << n;
          }
        }
      }
    }
  });
}

TEST(PanelMatmul, NotANumberReachesItsRowOnly) {
  ForEachPath([](const PanelPath& path) {
    for (const int64_t rows : {1, 5, 14}) {
      const int64_t k = 128;
      const Panel panel = MakePanel(path.weights, k, 32, 1);
      TestData data(3);
      std::vector<float> x = data.Values(rows * k);
      x[static_cast<size_t>(rows / 2 * k + 70)] = std::numeric_limits<float>::quiet_NaN();
      const std::vector<float> out = Multiply(path, panel, MakeRows(path, x, k, 1), 0, rows);
      for (int64_t i = 0; i < rows * kPanel; ++i) {
        ASSERT_EQ(std::isnan(out[static_cast<size_t>(i)]), i / kPanel == rows / 2) << i;
      }
    }
  });
}

// Exponents that a byte can name and a float32 barely can. The bf16 dot product instruction takes a subnormal
// operand as zero, so that path loses weights below 2^-126.
TEST(PanelMatmul, TakesEveryMxfp4Scale) {
  ForEachPath([](const PanelPath& path) {
    if (path.weights != PanelFormat::kMxfp4) return;
    const bool flushes = path.rows == RowFormat::kBf16;
    const std::vector<uint8_t> blocks(kPanel * 16, 0x22);  // ones
    for (const int64_t rows : {1, 7}) {
      for (int first = 0; first < 256; first += 32) {
        std::vector<uint8_t> scales;
        std::vector<int64_t> order;
        for (int n = 0; n < 32; ++n) {
          scales.push_back(static_cast<uint8_t>(first + n));
          order.push_back(n);
        }
        Panel panel{std::vector<uint8_t>(static_cast<size_t>(Mxfp4PanelBytes(32))), {}};
        PackMxfp4Panel(blocks.data(), scales.data(), 32, order, panel.packed.data());
        std::vector<float> x(static_cast<size_t>(rows * 32));
        for (size_t i = 0; i < x.size(); i += 32) x[i] = 127;
        const std::vector<float> out = Multiply(path, panel, MakeRows(path, x, 32, 1), 0, rows);
        for (size_t i = 0; i < out.size(); ++i) {
          const int scale = first + static_cast<int>(i % 32);
          if (scale == 255) {
            ASSERT_TRUE(std::isnan(out[i]));
          } else if (flushes && scale == 0) {
            ASSERT_EQ(out[i], 0);
          } else {
            ASSERT_EQ(out[i], static_cast<float>(std::ldexp(127.0, scale - 127))) << scale;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace assay::kernels
