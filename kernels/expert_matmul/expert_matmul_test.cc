#include "kernels/expert_matmul/expert_matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/expert_matmul/expert_test_support.h"
#include "kernels/panel/panel_test_values.h"
#include "kernels/routing/top_k.h"
#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

using Layer = RandomExperts;

struct Batch {
  int64_t tokens, k;
  std::vector<float> x;
  std::vector<int32_t> ids;
  std::vector<float> weights;
  Activations activations = Activations::kBf16;
};
Batch MakeBatch(int64_t tokens, int64_t experts, int64_t k, int64_t hidden, uint32_t seed = 1) {
  TestData data(seed);
  Batch batch{tokens, k, data.Values(tokens * hidden, 0.5f), {}, {}};
  batch.ids.resize(static_cast<size_t>(tokens * k));
  batch.weights.resize(batch.ids.size());
  const std::vector<float> logits = data.Values(tokens * experts);
  TopK({tokens, experts, k}, logits.data(), {}, batch.ids.data(), batch.weights.data());
  return batch;
}

// In `parts` calls of each half, as that many threads would.
std::vector<float> Multiply(const ExpertWeights& weights, const Batch& batch, int64_t parts = 1) {
  RoutingMetadata routing;
  GroupByExpert(batch.ids, weights.experts, routing);
  ActivationRows x(batch.activations, batch.tokens, weights.hidden);
  for (int64_t t = 0; t < batch.tokens; ++t) x.Set(t, batch.x.data() + t * weights.hidden);
  ActivationRows a(batch.activations, static_cast<int64_t>(batch.ids.size()), weights.intermediate);
  std::vector<float> y(static_cast<size_t>(batch.tokens * weights.hidden));
  const auto each = [&](int64_t total, auto call) {
    for (int64_t part = 0; part < parts; ++part) call(total * part / parts, total * (part + 1) / parts);
  };
  each(weights.GateUpPanels(), [&](int64_t first, int64_t last) {
    ExpertGateUp(weights, {routing, batch.k}, x, first, last, a);
  });
  each(weights.DownPanels(), [&](int64_t first, int64_t last) {
    ExpertDown(weights, {routing, batch.k}, a, batch.weights.data(), first, last, y.data());
  });
  return y;
}

const struct {
  const char* name;
  Activations kind;
  Tolerance tolerance;  // of the activations between the two halves
} kModes[] = {{"bf16", Activations::kBf16, kBf16Activations},
              {"bf16 pair", Activations::kBf16Pair, kBf16Pairs},
              {"int8", Activations::kInt8, kInt8Activations}};

TEST(ExpertMatmul, MatchesTheReference) {
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    const struct {
      const char* name;
      int64_t tokens, experts, k, hidden, intermediate;
    } cases[] = {{"one token", 1, 32, 4, 192, 192},
                 {"fewer gates than experts", 3, 32, 4, 64, 96},
                 {"many rows an expert", 300, 4, 2, 32, 32},
                 {"all experts", 5, 8, 8, 64, 32},
                 {"128 experts", 40, 128, 4, 96, 64},
                 {"wide", 2, 4, 4, 2880, 32},
                 {"tall", 2, 4, 4, 32, 2880}};
    for (const auto& c : cases) {
      const Layer layer(c.experts, c.hidden, c.intermediate);
      const ExpertWeights weights = PackExperts(layer.tensors);
      Batch batch = MakeBatch(c.tokens, c.experts, c.k, c.hidden);
      for (const auto& mode : kModes) {
        batch.activations = mode.kind;
        std::vector<float> expected(static_cast<size_t>(c.tokens * c.hidden));
        ExpertMatmulReference(layer.tensors, ValuesOf(mode.kind, batch.x, c.hidden).data(), c.tokens, c.k,
                              batch.ids.data(), batch.weights.data(), expected.data());
        const std::vector<float> y = Multiply(weights, batch);
        double largest = 0;
        for (const float value : expected) largest = std::max(largest, std::abs(static_cast<double>(value)));
        for (size_t i = 0; i < y.size(); ++i) {
          ASSERT_TRUE(Close(y[i], expected[i], mode.tolerance, largest))
              << mode.name << " " << c.name << ": " << y[i] << " vs " << expected[i];
        }
      }
    }
  }
}

TEST(ExpertMatmul, ThreadsAndBatchesGiveTheSameBits) {
  const Layer layer(32, 192, 192);
  const ExpertWeights weights = PackExperts(layer.tensors);
  for (const auto& mode : kModes) {
    for (const int64_t tokens : {61, 500}) {
      Batch batch = MakeBatch(tokens, 32, 4, 192);
      batch.activations = mode.kind;
      const std::vector<float> whole = Multiply(weights, batch);
      for (const int64_t parts : {2, 3, 6}) {
        EXPECT_EQ(Multiply(weights, batch, parts), whole) << mode.name << " " << parts;
      }
      for (int64_t t = 0; t < batch.tokens; t += 1 + tokens / 60) {
        const auto gates = static_cast<long>(t * 4);
        const Batch alone{1,
                          4,
                          {batch.x.begin() + t * 192, batch.x.begin() + (t + 1) * 192},
                          {batch.ids.begin() + gates, batch.ids.begin() + gates + 4},
                          {batch.weights.begin() + gates, batch.weights.begin() + gates + 4},
                          mode.kind};
        ASSERT_EQ(Multiply(weights, alone),
                  std::vector<float>(whole.begin() + t * 192, whole.begin() + (t + 1) * 192))
            << mode.name << " " << t;
      }
    }
  }
}

TEST(ExpertMatmul, PaddingRowsAddNothingAndReachNobody) {
  const Layer layer(32, 64, 64);
  const ExpertWeights weights = PackExperts(layer.tensors);
  Batch batch = MakeBatch(8, 32, 4, 64);
  std::fill_n(batch.ids.end() - 4, 4, -1);
  for (const auto& mode : kModes) {
    batch.activations = mode.kind;
    std::fill_n(batch.x.end() - 64, 64, 1.0f);
    const std::vector<float> clean = Multiply(weights, batch);
    for (const float poison :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      std::fill_n(batch.x.end() - 64, 64, poison);
      std::fill_n(batch.weights.end() - 4, 4, poison);
      EXPECT_EQ(Multiply(weights, batch), clean) << mode.name;
    }
    EXPECT_EQ(std::vector<float>(clean.end() - 64, clean.end()), std::vector<float>(64));
  }
}

TEST(ExpertMatmul, DownBiasIsWeightedToo) {
  Layer layer(4, 32, 32);
  std::fill(layer.down_blocks.begin(), layer.down_blocks.end(), 0);
  Batch batch = MakeBatch(1, 4, 2, 32);
  const std::vector<float> y = Multiply(PackExperts(layer.tensors), batch);
  for (size_t n = 0; n < 32; ++n) {
    const float expected = batch.weights[0] * layer.down_bias[static_cast<size_t>(batch.ids[0]) * 32 + n] +
                           batch.weights[1] * layer.down_bias[static_cast<size_t>(batch.ids[1]) * 32 + n];
    EXPECT_FLOAT_EQ(y[n], expected);
  }
}

}  // namespace
}  // namespace assay::kernels
