#include "kernels/activations/activations.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "kernels/test_data.h"

namespace assay::kernels {
namespace {

const struct {
  Activations kind;
  RowFormat format;
  size_t bytes;  // of a row of 96
} kFormats[] = {{Activations::kBf16, RowFormat::kFloat32, 384},
                {Activations::kBf16, RowFormat::kBf16, 192},
                {Activations::kBf16Pair, RowFormat::kFloat32, 384},
                {Activations::kBf16Pair, RowFormat::kBf16, 384},
                {Activations::kInt8, RowFormat::kInt8, 120}};

TEST(ActivationRows, ARowSetInSlicesIsTheRowSetAtOnce) {
  for (const auto& f : kFormats) {
    TestData data(1);
    const std::vector<float> x = data.Values(96);
    ActivationRows whole(f.kind, 2, 96, f.format), sliced(f.kind, 2, 96, f.format);
    whole.Set(1, x.data());
    sliced.SetColumns(1, 64, 32, x.data() + 64);
    sliced.SetColumns(1, 0, 64, x.data());
    EXPECT_EQ(std::memcmp(whole.Row(1), sliced.Row(1), f.bytes), 0) << static_cast<int>(f.format);
  }
}

TEST(ActivationRows, RowsAndSlicesDoNotTouchTheirNeighbours) {
  for (const auto& f : kFormats) {
    const std::vector<float> ones(96, 1.0f), twos(32, 2.0f);
    ActivationRows expected(f.kind, 3, 96, f.format), rows(f.kind, 3, 96, f.format);
    std::vector<float> mixed = ones;
    std::fill_n(mixed.begin() + 32, 32, 2.0f);
    for (int64_t r = 0; r < 3; ++r) {
      expected.Set(r, r == 1 ? mixed.data() : ones.data());
      rows.Set(r, ones.data());
    }
    rows.SetColumns(1, 32, 32, twos.data());
    for (int64_t r = 0; r < 3; ++r) EXPECT_EQ(std::memcmp(rows.Row(r), expected.Row(r), f.bytes), 0) << r;
  }
}

TEST(ActivationRows, ABlockCutShortEndsInZeros) {
  for (const auto& f : kFormats) {
    std::vector<float> x(96, std::numeric_limits<float>::quiet_NaN());
    ActivationRows rows(f.kind, 1, 96, f.format), expected(f.kind, 1, 96, f.format);
    rows.Set(0, x.data());
    std::fill(x.begin(), x.end(), 1.0f);
    rows.SetColumns(0, 0, 48, x.data());
    rows.SetColumns(0, 64, 32, x.data());
    std::fill_n(x.begin() + 48, 16, 0.0f);
    expected.Set(0, x.data());
    EXPECT_EQ(std::memcmp(rows.Row(0), expected.Row(0), f.bytes), 0) << static_cast<int>(f.format);
  }
}

}  // namespace
}  // namespace assay::kernels
