#include "engine/scheduler/philox.h"

#include <gtest/gtest.h>

namespace assay::engine {
namespace {

// kat_vectors of Random123 1.14, philox4x32 with 10 rounds.
TEST(Philox, AgreesWithThePublishedVectors) {
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(UniformDraw, FillsTheUnitIntervalEvenly) {
  constexpr int kDraws = 20000, kBins = 20;
  int bins[kBins] = {};
  for (int i = 0; i < kDraws; ++i) {
    const double u = UniformDraw(7, static_cast<uint64_t>(i));
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++bins[static_cast<int>(u * kBins)];
  }
  double chi_squared = 0;
  for (const int n : bins) chi_squared += (n - 1000.0) * (n - 1000.0) / 1000.0;
  EXPECT_LT(chi_squared, 43.8);  // 99.9 % of 19 degrees of freedom
}

TEST(DerivedSeed, DiffersForEachRequestAndEngineSeed) {
  EXPECT_NE(DerivedSeed(0, 0), DerivedSeed(0, 1));
  EXPECT_NE(DerivedSeed(0, 0), DerivedSeed(1, 0));
  EXPECT_EQ(DerivedSeed(3, 4), DerivedSeed(3, 4));
}

}  // namespace
}  // namespace assay::engine
