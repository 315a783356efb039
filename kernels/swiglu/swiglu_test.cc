#include "kernels/swiglu/swiglu.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Swiglu, WorkedExamples) {
  const struct {
    const char* name;
    float gate, up, y;
  } cases[] = {
      {"zero gate", 0, 5, 0},
      {"one and one", 1, 1, 1.6915915f},                   // 2 / (1 + e^-1.702)
      {"gate is cut above", 50, 0, 6.9999531f},            // as gate 7
      {"gate is not cut below", -20, 0, -3.2934102e-14f},  // -20 / (1 + e^34.04)
      {"up is cut on both sides", 1, -50, -5.0747746f},    // as up -7
      {"very negative gate", -1000, 3, -0.0f},
      {"infinite gate", kInfinity, 0, 6.9999531f},
  };
  for (const auto& c : cases) {
    EXPECT_NEAR(SwigluReference(c.gate, c.up, 7), c.y, 2e-6 * std::abs(c.y) + 1e-15) << c.name;
    float y[3];
    const float gates[3] = {c.gate, c.gate, c.gate}, ups[3] = {c.up, c.up, c.up};
    Swiglu(gates, ups, 3, 7, y);
    EXPECT_NEAR(y[2], c.y, 4e-6 * std::abs(c.y) + 1e-15) << c.name;
  }
}

TEST(Swiglu, MatchesTheReference) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    TestData data(1);
    const std::vector<float> gate = data.Values(1003, 4), up = data.Values(1003, 4);
    std::vector<float> y(1003);
    Swiglu(gate.data(), up.data(), 1003, 7, y.data());
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_TRUE(Close(y[i], SwigluReference(gate[i], up[i], 7), kExponential)) << gate[i] << " " << up[i];
    }
  }
}

TEST(Swiglu, NotANumberIsNotHidden) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> gate(17, nan), up(17, 1.0f), y(17);
    Swiglu(gate.data(), up.data(), 17, 7, y.data());
    for (const float value : y) EXPECT_TRUE(std::isnan(value));
    Swiglu(up.data(), gate.data(), 17, 7, y.data());
    for (const float value : y) EXPECT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace assay::kernels
