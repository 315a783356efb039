#include "kernels/expert_matmul/expert_matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/routing/top_k.h"
#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

struct Layer {
  std::vector<uint8_t> gate_up_blocks, gate_up_scales, down_blocks, down_scales;
  std::vector<float> gate_up_bias, down_bias;
  ExpertTensors tensors;

  Layer(int64_t experts, int64_t hidden, int64_t intermediate) {
    TestData data(static_cast<uint32_t>(experts + hidden + intermediate));
    gate_up_blocks = data.Bytes(experts * 2 * intermediate * hidden / 2);
    gate_up_scales = data.Bytes(experts * 2 * intermediate * hidden / 32, 119, 123);
    down_blocks = data.Bytes(experts * hidden * intermediate / 2);
    down_scales = data.Bytes(experts * hidden * intermediate / 32, 119, 123);
    gate_up_bias = data.Values(experts * 2 * intermediate, 0.1f);
    down_bias = data.Values(experts * hidden, 0.1f);
    tensors = {experts,
               hidden,
               intermediate,
               gate_up_blocks.data(),
               gate_up_scales.data(),
               gate_up_bias,
               down_blocks.data(),
               down_scales.data(),
               down_bias,
               7.0f};
  }
};

struct Batch {
  int64_t tokens, k;
  std::vector<Bf16> x;
  std::vector<int32_t> ids;
  std::vector<float> weights;
  int64_t terms = 1;  // of x
};
Batch MakeBatch(int64_t tokens, int64_t experts, int64_t k, int64_t hidden, uint32_t seed = 1) {
  TestData data(seed);
  Batch batch{tokens, k, Rounded(data.Values(tokens * hidden, 0.5f)), {}, {}, 1};
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
  ExpertScratch scratch(weights);
  std::vector<Bf16> a(batch.ids.size() * static_cast<size_t>(batch.terms * weights.intermediate));
  std::vector<float> y(static_cast<size_t>(batch.tokens * weights.hidden));
  const auto each = [&](int64_t total, auto call) {
    for (int64_t part = 0; part < parts; ++part) call(total * part / parts, total * (part + 1) / parts);
  };
  each(weights.GateUpPanels(), [&](int64_t first, int64_t last) {
    ExpertGateUp(weights, {routing, batch.k, batch.terms}, batch.x.data(), first, last, scratch, a.data());
  });
  each(weights.DownPanels(), [&](int64_t first, int64_t last) {
    ExpertDown(weights, {routing, batch.k, batch.terms}, a.data(), batch.weights.data(), first, last, scratch,
               y.data());
  });
  return y;
}

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
      const Batch batch = MakeBatch(c.tokens, c.experts, c.k, c.hidden);
      std::vector<float> expected(static_cast<size_t>(c.tokens * c.hidden));
      ExpertMatmulReference(layer.tensors, Widened(batch.x).data(), c.tokens, c.k, batch.ids.data(),
                            batch.weights.data(), expected.data());
      const std::vector<float> y = Multiply(PackExperts(layer.tensors), batch);
      double largest = 0;
      for (const float value : expected) largest = std::max(largest, std::abs(static_cast<double>(value)));
      for (size_t i = 0; i < y.size(); ++i) {
        ASSERT_TRUE(Close(y[i], expected[i], kBf16Activations, largest))
            << c.name << ": " << y[i] << " vs " << expected[i];
      }
    }
  }
}

TEST(ExpertMatmul, TwoTermsComeCloseToFloat32) {
  const Layer layer(32, 192, 96);
  Batch batch = MakeBatch(50, 32, 4, 192);
  TestData data(7);
  const std::vector<float> x = data.Values(50 * 192, 0.5f);
  batch.terms = 2;
  batch.x.resize(2 * x.size());
  for (size_t t = 0; t < 50; ++t) SplitToBf16(&x[t * 192], 192, 2, &batch.x[t * 2 * 192]);
  std::vector<float> expected(x.size());
  ExpertMatmulReference(layer.tensors, x.data(), 50, 4, batch.ids.data(), batch.weights.data(),
                        expected.data());
  const std::vector<float> y = Multiply(PackExperts(layer.tensors), batch);
  const double largest = std::abs(*std::max_element(
      expected.begin(), expected.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
  for (size_t i = 0; i < y.size(); ++i) ASSERT_TRUE(Close(y[i], expected[i], kBf16Pairs, largest));
}

TEST(ExpertMatmul, ThreadsAndBatchesGiveTheSameBits) {
  const Layer layer(32, 192, 192);
  const ExpertWeights weights = PackExperts(layer.tensors);
  const Batch batch = MakeBatch(61, 32, 4, 192);
  const std::vector<float> whole = Multiply(weights, batch);
  for (const int64_t parts : {2, 3, 6}) EXPECT_EQ(Multiply(weights, batch, parts), whole) << parts;
  for (int64_t t = 0; t < batch.tokens; ++t) {
    const auto gates = static_cast<size_t>(t * 4);
    const Batch alone{
        1,
        4,
        {batch.x.begin() + t * 192, batch.x.begin() + (t + 1) * 192},
        {batch.ids.begin() + static_cast<long>(gates), batch.ids.begin() + static_cast<long>(gates) + 4},
        {batch.weights.begin() + static_cast<long>(gates),
         batch.weights.begin() + static_cast<long>(gates) + 4},
        1};
    ASSERT_EQ(Multiply(weights, alone),
              std::vector<float>(whole.begin() + t * 192, whole.begin() + (t + 1) * 192))
        << t;
  }
}

TEST(ExpertMatmul, PaddingRowsAddNothingAndReachNobody) {
  const Layer layer(32, 64, 64);
  const ExpertWeights weights = PackExperts(layer.tensors);
  Batch batch = MakeBatch(8, 32, 4, 64);
  std::fill_n(batch.ids.end() - 4, 4, -1);
  const std::vector<float> clean = Multiply(weights, batch);
  for (const float poison :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::fill_n(batch.x.end() - 64, 64, ToBf16(poison));
    std::fill_n(batch.weights.end() - 4, 4, poison);
    EXPECT_EQ(Multiply(weights, batch), clean);
  }
  EXPECT_EQ(std::vector<float>(clean.end() - 64, clean.end()), std::vector<float>(64));
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
