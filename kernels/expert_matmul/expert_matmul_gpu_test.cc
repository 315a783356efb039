#include "kernels/expert_matmul/expert_gpu_test_support.h"

namespace assay::kernels::gpu {
namespace {

using Layer = RandomExperts;

// y [tokens, hidden], from zeros.
std::vector<float> Multiply(const Layer& layer, const Batch& batch, int64_t block, const Way& way = {}) {
  const Stream stream;
  const ExpertsOnDevice experts(stream, layer, batch, block, way);
  experts.Grouped();
  return experts.Result();
}

TEST(ExpertMatmulGpu, MatchesTheReferenceWithEveryTileAndFormat) {
  const struct {
    const char* name;
    int64_t tokens, experts, k, hidden, intermediate;
  } cases[] = {{"one token", 1, 32, 4, 192, 192},
               {"fewer gates than experts", 3, 32, 4, 64, 96},
               {"many rows an expert", 300, 4, 2, 32, 32},
               {"all experts", 5, 8, 8, 64, 32},
               {"64 experts", 30, 64, 4, 96, 64},
               {"128 experts", 40, 128, 4, 96, 64},
               {"wide", 2, 4, 4, 2880, 32},
               {"tall", 2, 4, 4, 32, 2880}};
  for (const auto& c : cases) {
    const Layer layer(c.experts, c.hidden, c.intermediate);
    const Batch batch = MakeBatch(c.tokens, c.experts, c.k, c.hidden);
    const std::vector<float> expected = ExpectedOfExperts(layer.tensors, batch);
    const double largest = LargestOf(expected);
    for (const int64_t block : {16, 64, 128}) {
      const struct {
        const char* name;
        Way is;
      } ways[] = {{"mxfp4", {}}, {"bf16", {Format::kBf16}}, {"few rows", {.few_rows = true}}};
      for (const auto& way : ways) {
        const std::vector<float> y = Multiply(layer, batch, block, way.is);
        for (size_t i = 0; i < y.size(); ++i) {
          ASSERT_TRUE(Close(y[i], expected[i], kBf16Activations, largest))
              << c.name << " tile " << block << " " << way.name << ": " << y[i] << " vs " << expected[i];
        }
      }
    }
  }
}

TEST(ExpertMatmulGpu, MatchesTheReferenceWithFp8Activations) {
  Layer layer(32, 192, 160);
  layer.tensors.gate_up_input_scale = 0.01f;
  layer.tensors.down_input_scale = 0.05f;
  const Batch batch = MakeBatch(40, 32, 4, 192);
  const std::vector<float> expected = ExpectedOfExperts(layer.tensors, batch);
  const struct {
    int64_t block;
    bool few_rows;
  } ways[] = {{16, false}, {64, false}, {128, false}, {16, true}};
  for (const auto& way : ways) {
    const std::vector<float> y =
        Multiply(layer, batch, way.block, {Format::kMxfp4, 0.01f, 0.05f, way.few_rows});
    // A value beside the border of two FP8 numbers may fall to either side: a step of 1/16 of one of many
    // terms.
    const double largest = LargestOf(expected);
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_TRUE(Close(y[i], expected[i], {1.0 / 64, 1e-5}, largest))
          << "tile " << way.block << ": " << y[i] << " vs " << expected[i];
    }
  }
}

TEST(ExpertMatmulGpu, EveryScaleAndNibbleIsWorthWhatTheHostSays) {
  // One expert, x = e_0: the gate of column n is the first value of its row.
  const int64_t hidden = 32, intermediate = 2048;
  Layer layer(1, hidden, intermediate);
  std::fill(layer.gate_up_blocks.begin(), layer.gate_up_blocks.end(), 0);
  for (int64_t i = 0; i < intermediate; ++i) {  // up 0, gate: 16 nibbles x 128 scales around 1
    layer.gate_up_blocks[static_cast<size_t>(2 * i * 16)] = static_cast<uint8_t>(i % 16);
    layer.gate_up_scales[static_cast<size_t>(2 * i)] = static_cast<uint8_t>(127 - 64 + i / 16);
  }
  std::fill(layer.gate_up_bias.begin(), layer.gate_up_bias.end(), 0.0f);
  Batch batch{1, 1, std::vector<float>(32), {1.0f}, {0}};
  batch.x[0] = 1;
  const std::vector<float> expected = ExpectedOfExperts(layer.tensors, batch), y = Multiply(layer, batch, 16);
  const double largest = LargestOf(expected);
  for (size_t i = 0; i < y.size(); ++i) ASSERT_TRUE(Close(y[i], expected[i], kBf16Activations, largest)) << i;
}

TEST(ExpertMatmulGpu, AScaleOfNaNShows) {
  Layer layer(4, 64, 64);
  Batch batch = MakeBatch(2, 4, 1, 64);
  batch.ids = {1, 2};
  layer.gate_up_scales[static_cast<size_t>(2 * 128 * 2)] = 255;  // expert 2, row 0
  const std::vector<float> y = Multiply(layer, batch, 16);
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_TRUE(std::isfinite(y[i]));
    EXPECT_TRUE(std::isnan(y[64 + i]));
  }
}

TEST(ExpertMatmulGpu, PaddingRowsAddNothingAndReachNobody) {
  const Layer layer(32, 64, 64);
  Batch batch = MakeBatch(8, 32, 4, 64);
  std::fill_n(batch.ids.end() - 4, 4, -1);
  std::fill_n(batch.x.end() - 64, 64, 1.0f);
  const std::vector<float> clean = Multiply(layer, batch, 16);
  for (const float poison :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::fill_n(batch.x.end() - 64, 64, poison);
    std::fill_n(batch.weights.end() - 4, 4, poison);
    EXPECT_EQ(Multiply(layer, batch, 16), clean);
  }
  EXPECT_EQ(std::vector<float>(clean.end() - 64, clean.end()), std::vector<float>(64));
}

}  // namespace
}  // namespace assay::kernels::gpu
