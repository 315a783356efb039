#include "engine/model/layer_experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/text.h"
#include "engine/model/model_test_support.h"
#include "kernels/fp8/fp8.h"

namespace assay::engine {
namespace {

using ::testing::HasSubstr;

RandomCheckpoint Of(WeightLayout layout) {
  RandomCheckpoint checkpoint;
  checkpoint.shape.intermediate_size = 96;  // so that no two sides are equal
  checkpoint.layout = layout;
  return checkpoint;
}

std::vector<float> ReferenceLogits(const Path& folder) {
  ModelOptions options;
  options.moe_backend = MoeBackend::kReference;
  const auto model = RandomModel::LoadFrom(folder, options);
  if (!model) return {};
  Running request({7, 99, 3, 250, 12}, 0, 4);
  return Prefill(*model, request);
}

std::string LoadError(const Path& folder) {
  ModelOptions options;
  options.moe_backend = MoeBackend::kReference;
  const auto model = Model::Load(folder, options);
  return model ? "" : model.error().message;
}

// Overwrites a tensor's bytes where they lie.
template <class T>
void Overwrite(const Path& folder, const std::string& name, const std::vector<T>& values) {
  size_t at = 0;
  {
    const auto file = MappedFile::Open(folder / "model.safetensors");
    const auto tensors = ParseSafetensors(file->bytes(), "w");
    const auto bytes = tensors->at(name).bytes;
    ASSERT_EQ(bytes.size(), values.size() * sizeof(T));
    at = static_cast<size_t>(bytes.data() - file->bytes().data());
  }
  std::string whole = *ReadFile(folder / "model.safetensors");
  std::memcpy(&whole[at], values.data(), values.size() * sizeof(T));
  ASSERT_TRUE(WriteFileAtomic(folder / "model.safetensors", whole));
}

void ReplaceInConfig(const Path& folder, const std::string& from, const std::string& to) {
  const std::string config = *ReadFile(folder / "config.json");
  ASSERT_NE(config.find(from), std::string::npos);
  ASSERT_TRUE(WriteFileAtomic(folder / "config.json", ReplaceAll(config, from, to)));
}

TEST(Layouts, TheSameWeightsGiveTheSameLogitsHoweverTheyAreStored) {
  const RandomModel fused(Of(WeightLayout::kMxfp4)), bf16(Of(WeightLayout::kBf16)),
      quark(Of(WeightLayout::kQuark));
  const std::vector<float> logits = ReferenceLogits(fused.folder.path());
  ASSERT_EQ(logits.size(), 256u);
  EXPECT_EQ(ReferenceLogits(bf16.folder.path()), logits);
  EXPECT_EQ(ReferenceLogits(quark.folder.path()), logits);
}

TEST(Layouts, Fp8ChangesLogitsALittleAndFp8KeysAgain) {
  const RandomModel plain(Of(WeightLayout::kQuark)), fp8(Of(WeightLayout::kQuarkFp8)),
      kv(Of(WeightLayout::kQuarkFp8Kv));
  const auto a = ReferenceLogits(plain.folder.path()), b = ReferenceLogits(fp8.folder.path()),
             c = ReferenceLogits(kv.folder.path());
  double change = 0, change_of_kv = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    change = std::max(change, std::abs(static_cast<double>(a[i]) - b[i]));
    change_of_kv = std::max(change_of_kv, std::abs(static_cast<double>(b[i]) - c[i]));
    size = std::max(size, std::abs(static_cast<double>(a[i])));
  }
  // Three mantissa bits are an error of up to 1/16 of a number, and about 1/40 of a sum of many.
  EXPECT_GT(change, 1e-4 * size);
  EXPECT_LT(change, 0.1 * size);
  EXPECT_GT(change_of_kv, 1e-4 * size);
  EXPECT_LT(change_of_kv, 0.1 * size);
}

TEST(LayerExperts, PutsSeparateGatesAndUpsIntoPairs) {
  const RandomModel model(Of(WeightLayout::kQuark));
  ReplaceInConfig(model.folder.path(), R"("quant_method": "quark")",
                  R"("quant_method": "quark", "gate_up_order": "separate")");
  const auto checkpoint = OpenCheckpoint(model.folder.path());
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const LayerTensors& layer = checkpoint->layers[1];
  const LayerExperts experts(checkpoint->config, layer);
  for (size_t expert = 0; expert < 8; ++expert) {
    const std::vector<float> bias = Widen(layer.gate_up.biases[expert]);
    for (size_t i = 0; i < 96; ++i) {
      for (const size_t up : {0u, 1u}) {
        const size_t from = up * 96 + i, to = expert * 192 + 2 * i + up;
        ASSERT_EQ(experts.tensors().gate_up_bias[to], bias[from]);
        ASSERT_EQ(std::memcmp(experts.tensors().gate_up_blocks + to * 32,
                              layer.gate_up.blocks[expert].data() + from * 32, 32),
                  0);
        ASSERT_EQ(std::memcmp(experts.tensors().gate_up_scales + to * 2,
                              layer.gate_up.scales[expert].data() + from * 2, 2),
                  0);
      }
    }
    EXPECT_EQ(std::memcmp(experts.tensors().down_blocks + expert * 64 * 48, layer.down.blocks[expert].data(),
                          64 * 48),
              0);
  }
}

// models/tiny-moe was trained with interleaved rows.
TEST(LayerExperts, TheBiasesOfATrainedModelTellTheOrder) {
  auto checkpoint = OpenCheckpoint(Path(ASSAY_SOURCE_DIR) / "models/tiny-moe");
  ASSERT_TRUE(checkpoint) << checkpoint.error().message;
  const auto rows = static_cast<size_t>(2 * checkpoint->config.intermediate_size);
  for (const LayerTensors& layer : checkpoint->layers) {
    EXPECT_LT(SeparationOfGateUp(checkpoint->config, layer), -6);
    const auto bias = layer.gate_up.biases.front().As<kernels::Bf16>();
    std::vector<kernels::Bf16> separated(bias.size());
    for (size_t i = 0; i < bias.size(); ++i) {
      const size_t row = i % rows;
      separated[i - row + row % 2 * rows / 2 + row / 2] = bias[i];
    }
    LayerTensors other = layer;
    other.gate_up.biases.front().bytes = std::as_bytes(std::span(separated));
    EXPECT_GT(SeparationOfGateUp(checkpoint->config, other), 6);
  }
  const RandomModel random(Of(WeightLayout::kQuark));
  const auto untrained = OpenCheckpoint(random.folder.path());
  EXPECT_LT(std::abs(SeparationOfGateUp(untrained->config, untrained->layers[0])), 6);
}

TEST(LayerExperts, TheLargestInputScaleServesAllExperts) {
  const RandomModel model(Of(WeightLayout::kQuarkFp8));
  const Path folder = model.folder.path();
  Overwrite<float>(folder, "model.layers.0.mlp.experts.3.gate_up_proj.input_scale", {0.5f});
  Overwrite<float>(folder, "model.layers.0.mlp.experts.7.down_proj.input_scale", {0.75f});
  const auto checkpoint = OpenCheckpoint(folder);
  ASSERT_TRUE(checkpoint);
  const LayerExperts experts(checkpoint->config, checkpoint->layers[0]);
  EXPECT_EQ(experts.tensors().gate_up_input_scale, 0.5f);
  EXPECT_EQ(experts.tensors().down_input_scale, 0.75f);
}

TEST(Layouts, RefusesScalesThatCannotBe) {
  for (const float bad : {0.0f, -1.0f, std::nanf(""), HUGE_VALF}) {
    const RandomModel model(Of(WeightLayout::kQuarkFp8Kv));
    Overwrite<float>(model.folder.path(), "model.layers.1.self_attn.v_proj.output_scale", {bad});
    EXPECT_THAT(LoadError(model.folder.path()),
                HasSubstr("tensor model.layers.1.self_attn.v_proj.output_scale must be a scale above 0"));
  }
}

TEST(Layouts, SaysWhichTensorAWrongConfigMisses) {
  const RandomModel fused(Of(WeightLayout::kMxfp4)), quark(Of(WeightLayout::kQuark));
  const std::string with = RandomConfigJson(Of(WeightLayout::kQuarkFp8Kv));
  const std::string folder = quark.folder.path().string();
  ASSERT_TRUE(WriteFileAtomic(quark.folder / "config.json", with));
  EXPECT_EQ(LoadError(folder), "missing weights: " + folder +
                                   ": tensor model.layers.0.mlp.experts.0.gate_up_proj.input_scale is in "
                                   "none of its files");
  ASSERT_TRUE(WriteFileAtomic(fused.folder / "config.json", RandomConfigJson(Of(WeightLayout::kBf16))));
  EXPECT_THAT(LoadError(fused.folder.path()),
              HasSubstr("the experts are MXFP4, and config.json has no quantization_config that says so"));
}

}  // namespace
}  // namespace assay::engine
