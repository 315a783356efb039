// Experts in bf16, and experts with static FP8 activations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/expert_matmul/expert_test_support.h"
#include "kernels/fp8/fp8.h"
#include "kernels/routing/top_k.h"
#include "kernels/test_data.h"
#include "kernels/tolerance.h"
#include "kernels/use_target.h"

namespace assay::kernels {
namespace {

constexpr int64_t kExperts = 8, kHidden = 96, kIntermediate = 64, kTokens = 21, kChosen = 4;

// Weights in bf16 with the input axis first, and the same weights in MXFP4 where they came from.
struct Layer : RandomExperts {
  std::vector<Bf16> gate_up_bf16, down_bf16;
  ExpertTensors mxfp4, bf16;

  Layer() : RandomExperts(kExperts, kHidden, kIntermediate, 11), mxfp4(tensors) {
    gate_up_bf16 = Transposed(gate_up_blocks, gate_up_scales, 2 * kIntermediate, kHidden);
    down_bf16 = Transposed(down_blocks, down_scales, kHidden, kIntermediate);
    bf16 = mxfp4;
    bf16.gate_up_blocks = bf16.gate_up_scales = bf16.down_blocks = bf16.down_scales = nullptr;
    bf16.gate_up_bf16 = gate_up_bf16.data();
    bf16.down_bf16 = down_bf16.data();
  }

  static std::vector<Bf16> Transposed(const std::vector<uint8_t>& blocks, const std::vector<uint8_t>& scales,
                                      int64_t columns, int64_t k) {
    std::vector<float> rows(static_cast<size_t>(kExperts * columns * k));
    DecodeMxfp4(blocks.data(), scales.data(), kExperts * columns * k / 32, rows.data());
    std::vector<Bf16> out(rows.size());
    for (int64_t e = 0; e < kExperts; ++e) {
      for (int64_t n = 0; n < columns; ++n) {
        for (int64_t i = 0; i < k; ++i) {
          out[static_cast<size_t>((e * k + i) * columns + n)] =
              ToBf16(rows[static_cast<size_t>((e * columns + n) * k + i)]);
        }
      }
    }
    return out;
  }
};

struct Batch {
  std::vector<float> x = TestData(5).Values(kTokens * kHidden, 0.5f), weights;
  std::vector<int32_t> ids;
  Batch() : weights(kTokens * kChosen), ids(kTokens * kChosen) {
    const std::vector<float> logits = TestData(6).Values(kTokens * kExperts);
    TopK({kTokens, kExperts, kChosen}, logits.data(), {}, ids.data(), weights.data());
  }
};

std::vector<float> Fast(const ExpertTensors& tensors, const Batch& batch, Activations wish) {
  const ExpertWeights weights = PackExperts(tensors);
  const bool fp8 = tensors.gate_up_input_scale > 0;
  const Activations kind = ExpertActivations(weights.format == PanelFormat::kBf16, fp8, wish);
  ActivationRows x(kind, kTokens, kHidden), a(kind, kTokens * kChosen, kIntermediate);
  for (int64_t t = 0; t < kTokens; ++t) {
    std::vector<float> row(batch.x.begin() + t * kHidden, batch.x.begin() + (t + 1) * kHidden);
    if (fp8) EncodeToFp8(Fp8::kE4M3FN, tensors.gate_up_input_scale, kHidden, row.data());
    x.Set(t, row.data());
  }
  RoutingMetadata routing;
  GroupByExpert(batch.ids, kExperts, routing);
  std::vector<float> y(kTokens * kHidden);
  ExpertGateUp(weights, {routing, kChosen}, x, 0, weights.GateUpPanels(), a);
  ExpertDown(weights, {routing, kChosen}, a, batch.weights.data(), 0, weights.DownPanels(), y.data());
  return y;
}

std::vector<float> Slow(const ExpertTensors& tensors, const Batch& batch) {
  std::vector<float> y(kTokens * kHidden);
  ExpertMatmulReference(tensors, batch.x.data(), kTokens, kChosen, batch.ids.data(), batch.weights.data(),
                        y.data());
  return y;
}

void ExpectClose(const std::vector<float>& fast, const std::vector<float>& slow, const Tolerance& tolerance) {
  double largest = 0;
  for (const float value : slow) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (size_t i = 0; i < slow.size(); ++i) {
    ASSERT_TRUE(Close(fast[i], slow[i], tolerance, largest)) << i << ": " << fast[i] << " vs " << slow[i];
  }
}

TEST(Bf16Experts, TheReferenceTakesTheSameWeightsInEitherForm) {
  const Layer layer;
  const Batch batch;
  EXPECT_EQ(Slow(layer.bf16, batch), Slow(layer.mxfp4, batch));
}

TEST(Bf16Experts, MatchTheReference) {
  const Layer layer;
  const Batch batch;
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    ExpectClose(Fast(layer.bf16, batch, Activations::kBf16Pair), Slow(layer.bf16, batch), kBf16Pairs);
    ExpectClose(Fast(layer.bf16, batch, Activations::kBf16), Slow(layer.bf16, batch), kBf16Activations);
  }
}

TEST(Bf16Experts, AreNeverMultipliedInInt8) {
  const Layer layer;
  const Batch batch;
  EXPECT_EQ(Fast(layer.bf16, batch, Activations::kInt8), Fast(layer.bf16, batch, Activations::kBf16Pair));
}

// The codes are exact, so what is left is the order of additions, and now and then a gated value whose last
// bit decides between two codes.
TEST(Fp8Experts, MatchTheReference) {
  Layer layer;
  layer.mxfp4.gate_up_input_scale = layer.bf16.gate_up_input_scale = 0.02f;
  layer.mxfp4.down_input_scale = layer.bf16.down_input_scale = 0.07f;
  const Batch batch;
  for (const int64_t target : InstructionSets()) {
    const UseTarget use(target);
    for (const ExpertTensors& tensors : {layer.mxfp4, layer.bf16}) {
      const std::vector<float> fast = Fast(tensors, batch, Activations::kInt8), slow = Slow(tensors, batch);
      double largest = 0;
      for (const float value : slow) largest = std::max(largest, std::abs(static_cast<double>(value)));
      size_t far = 0;
      for (size_t i = 0; i < slow.size(); ++i) far += !Close(fast[i], slow[i], kFloat32, largest);
      EXPECT_LE(far, kHidden * 2) << "rows of at most two tokens may take another code";
      ExpectClose(fast, slow, kBf16Activations);
    }
  }
}

TEST(Fp8Experts, RoundingIsNoSmallThing) {
  Layer layer;
  const Batch batch;
  const std::vector<float> plain = Slow(layer.mxfp4, batch);
  layer.mxfp4.gate_up_input_scale = 0.02f;
  const std::vector<float> inputs = Slow(layer.mxfp4, batch);
  layer.mxfp4.down_input_scale = 0.07f;
  const std::vector<float> both = Slow(layer.mxfp4, batch);
  EXPECT_NE(inputs, plain);
  EXPECT_NE(both, inputs);
}

}  // namespace
}  // namespace assay::kernels
