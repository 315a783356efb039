#include "engine/model/random_checkpoint.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "engine/model/model_test_support.h"
#include "engine/model/safetensors.h"
#include "kernels/mxfp4/mxfp4.h"

namespace assay::engine {
namespace {

RandomCheckpoint Of(WeightLayout layout, int64_t shards = 1) {
  RandomCheckpoint checkpoint;
  checkpoint.shape.intermediate_size = 96;  // so that no two sides are equal
  checkpoint.layout = layout;
  checkpoint.shards = shards;
  return checkpoint;
}

template <class T>
std::vector<T> Read(const TensorFiles& files, const std::string& name, TensorType type,
                    const std::vector<int64_t>& shape) {
  const auto view = files.Get(name, type, shape);
  EXPECT_TRUE(view) << view.error().message;
  if (!view) return {};
  return {view->As<T>().begin(), view->As<T>().end()};
}

TEST(RandomCheckpoint, TheSameSeedGivesTheSameBytes) {
  const RandomModel a({}, 3), b({}, 3), c({}, 4);
  EXPECT_EQ(*ReadFile(a.folder / "model.safetensors"), *ReadFile(b.folder / "model.safetensors"));
  EXPECT_NE(*ReadFile(a.folder / "model.safetensors"), *ReadFile(c.folder / "model.safetensors"));
}

TEST(RandomCheckpoint, ThreadsDoNotChangeAByte) {
  RandomCheckpoint checkpoint;
  checkpoint.shape.vocab_size = 1 << 18;  // 32 MB an embedding: enough pieces for every thread
  const testing::TempDir one, many;
  ASSERT_TRUE(WriteRandomCheckpoint(one.path(), checkpoint, {1, nullptr, {}}));
  ASSERT_TRUE(WriteRandomCheckpoint(many.path(), checkpoint, {5, nullptr, {}}));
  EXPECT_EQ(*Sha256File(one / "model.safetensors"), *Sha256File(many / "model.safetensors"));
}

TEST(RandomCheckpoint, HasTheSizeItAnnounces) {
  for (const WeightLayout layout : {WeightLayout::kMxfp4, WeightLayout::kBf16, WeightLayout::kQuarkFp8Kv}) {
    const RandomModel model(Of(layout));
    const Result<MappedFile> file = MappedFile::Open(model.folder / "model.safetensors");
    ASSERT_TRUE(file);
    const auto tensors = ParseSafetensors(file->bytes(), "w");
    ASSERT_TRUE(tensors);
    int64_t data = 0;
    for (const auto& [name, view] : *tensors) data += static_cast<int64_t>(view.bytes.size());
    EXPECT_EQ(data, RandomCheckpointBytes(Of(layout)));
  }
}

TEST(RandomCheckpoint, ShardsAreFullAndSayWhereTensorsAre) {
  for (const int64_t shards : {2, 3, 7}) {
    const RandomModel model(Of(WeightLayout::kMxfp4, shards));
    const auto files = TensorFiles::Open(model.folder.path());
    ASSERT_TRUE(files) << files.error().message;
    EXPECT_EQ(files->Paths().size(), static_cast<size_t>(shards));
  }
  const testing::TempDir folder;
  EXPECT_FALSE(WriteRandomCheckpoint(folder.path(), Of(WeightLayout::kMxfp4, 1000)));
}

TEST(RandomCheckpoint, QuarkHasTheSameBytesInATensorForEachExpert) {
  const RandomModel fused(Of(WeightLayout::kMxfp4)), single(Of(WeightLayout::kQuark));
  const auto a = TensorFiles::Open(fused.folder.path()), b = TensorFiles::Open(single.folder.path());
  ASSERT_TRUE(a && b);
  const std::string at = "model.layers.1.mlp.experts.";
  const auto blocks = Read<uint8_t>(*a, at + "down_proj_blocks", TensorType::kU8, {8, 64, 3, 16});
  const auto scales = Read<uint8_t>(*a, at + "gate_up_proj_scales", TensorType::kU8, {8, 192, 2});
  const auto bias = Read<uint16_t>(*a, at + "gate_up_proj_bias", TensorType::kBf16, {8, 192});
  std::vector<uint8_t> blocks_of_all, scales_of_all;
  std::vector<uint16_t> bias_of_all;
  for (int e = 0; e < 8; ++e) {
    const std::string own = at + std::to_string(e) + ".";
    for (const uint8_t byte : Read<uint8_t>(*b, own + "down_proj.weight", TensorType::kU8, {64, 48}))
      blocks_of_all.push_back(byte);
    for (const uint8_t byte : Read<uint8_t>(*b, own + "gate_up_proj.weight_scale", TensorType::kU8, {192, 2}))
      scales_of_all.push_back(byte);
    for (const uint16_t value : Read<uint16_t>(*b, own + "gate_up_proj.bias", TensorType::kBf16, {192}))
      bias_of_all.push_back(value);
  }
  EXPECT_EQ(blocks_of_all, blocks);
  EXPECT_EQ(scales_of_all, scales);
  EXPECT_EQ(bias_of_all, bias);
}

TEST(RandomCheckpoint, Bf16HasTheSameWeightsInputAxisFirst) {
  const RandomModel fp4(Of(WeightLayout::kMxfp4)), bf16(Of(WeightLayout::kBf16));
  const auto a = TensorFiles::Open(fp4.folder.path()), b = TensorFiles::Open(bf16.folder.path());
  ASSERT_TRUE(a && b);
  const std::string name = "model.layers.0.mlp.experts.gate_up_proj";
  const auto blocks = Read<uint8_t>(*a, name + "_blocks", TensorType::kU8, {8, 192, 2, 16});
  const auto scales = Read<uint8_t>(*a, name + "_scales", TensorType::kU8, {8, 192, 2});
  const auto weights = Read<uint16_t>(*b, name, TensorType::kBf16, {8, 64, 192});
  for (size_t e = 0; e < 8; ++e) {
    for (size_t n = 0; n < 192; ++n) {
      for (size_t k = 0; k < 64; ++k) {
        const size_t block = (e * 192 + n) * 2 + k / 32;
        const uint8_t byte = blocks[block * 16 + k % 32 / 2];
        const float value =
            kernels::DecodeE2M1(k % 2 == 0 ? byte & 15 : byte >> 4) * kernels::DecodeE8M0(scales[block]);
        ASSERT_EQ(kernels::FromBf16(weights[(e * 64 + k) * 192 + n]), value) << e << " " << n << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace assay::engine
