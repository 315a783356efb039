#include "kernels/expert_matmul/expert_matmul_gpu.h"

#include <algorithm>

#include "kernels/expert_matmul/expert_test_support.h"
#include "kernels/fp8/fp8.h"
#include "kernels/gpu/gpu_test_support.h"
#include "kernels/mxfp4/mxfp4.h"
#include "kernels/routing/routing_gpu.h"
#include "kernels/routing/top_k.h"

namespace assay::kernels::gpu {
namespace {

using Layer = RandomExperts;

// [experts, columns, k] of MXFP4 as bf16 rows.
std::vector<Bf16> Opened(const std::vector<uint8_t>& blocks, const std::vector<uint8_t>& scales) {
  std::vector<float> values(scales.size() * 32);
  DecodeMxfp4(blocks.data(), scales.data(), static_cast<int64_t>(scales.size()), values.data());
  return Rounded(values);
}

struct Batch {
  int64_t tokens, k;
  std::vector<float> x, weights;
  std::vector<int32_t> ids;
};
Batch MakeBatch(int64_t tokens, int64_t experts, int64_t k, int64_t hidden, uint32_t seed = 1) {
  TestData data(seed);
  Batch batch{tokens, k, Widened(Rounded(data.Values(tokens * hidden, 0.5f))), {}, {}};
  batch.ids.resize(static_cast<size_t>(tokens * k));
  batch.weights.resize(batch.ids.size());
  assay::kernels::TopK({tokens, experts, k}, data.Values(tokens * experts).data(), {}, batch.ids.data(),
                       batch.weights.data());
  return batch;
}

enum class Format { kMxfp4, kBf16 };

int Largest(const std::vector<uint8_t>& scales) {
  return *std::max_element(scales.begin(), scales.end());
}

// y [tokens, hidden], from zeros.
std::vector<float> Multiply(const Layer& layer, const Batch& batch, int64_t block,
                            Format format = Format::kMxfp4, float gate_up_scale = 0, float down_scale = 0,
                            bool few_rows = false) {
  const Stream stream;
  const int64_t gates = batch.tokens * batch.k, experts = layer.tensors.experts;
  const bool fp8 = gate_up_scale > 0;
  std::vector<float> x = batch.x;
  if (fp8) EncodeToFp8Reference(Fp8::kE4M3FN, gate_up_scale, static_cast<int64_t>(x.size()), x.data());
  const auto device_x = Input(stream, Rounded(x));
  const auto w1 = Input(stream, layer.gate_up_blocks), s1 = Input(stream, layer.gate_up_scales);
  const auto w2 = Input(stream, layer.down_blocks), s2 = Input(stream, layer.down_scales);
  const auto b1 = Input(stream, layer.gate_up_bias), b2 = Input(stream, layer.down_bias);
  DeviceBuffer<Bf16> open1, open2;
  if (format == Format::kBf16) {
    open1 = Input(stream, Opened(layer.gate_up_blocks, layer.gate_up_scales));
    open2 = Input(stream, Opened(layer.down_blocks, layer.down_scales));
  }
  const ExpertLayer device_layer{
      {w1.data(), s1.data(), open1.data(), b1.data(), 2 * layer.tensors.intermediate, layer.tensors.hidden,
       fp8 ? gate_up_scale : 1, Largest(layer.gate_up_scales), fp8},
      {w2.data(), s2.data(), open2.data(), b2.data(), layer.tensors.hidden, layer.tensors.intermediate,
       fp8 ? down_scale : 1, Largest(layer.down_scales), fp8},
      7.0f};
  const auto ids = Input(stream, batch.ids);
  const auto weights = Input(stream, batch.weights);
  const auto bits = Unwritten<uint32_t>(stream, batch.tokens * ((experts + 31) / 32));
  const auto col_sum = Unwritten<int32_t>(stream, experts), offsets = Unwritten<int32_t>(stream, experts + 1);
  const auto col_sorted = Unwritten<int32_t>(stream, gates), row_sorted = Unwritten<int32_t>(stream, gates);
  const auto schedule = Unwritten<int32_t>(stream, MaxTiles(gates, experts, block));
  const Routing routing{batch.tokens,      experts,         batch.k,        nullptr,
                        nullptr,           block,           ids.data(),     weights.data(),
                        bits.data(),       col_sum.data(),  offsets.data(), col_sorted.data(),
                        row_sorted.data(), schedule.data(), nullptr,        nullptr};
  PackBitmatrix(stream.handle(), routing);
  GroupGates(stream.handle(), routing);
  const ExpertBatch device_batch{batch.tokens,   batch.k,           experts,           block,
                                 offsets.data(), col_sorted.data(), row_sorted.data(), schedule.data(),
                                 weights.data(), few_rows};
  const auto a = Unwritten<Bf16>(stream, gates * layer.tensors.intermediate);
  const auto out = Unwritten<float>(stream, gates * layer.tensors.hidden);
  const auto y = Input(stream, std::vector<float>(static_cast<size_t>(batch.tokens * layer.tensors.hidden)));
  ExpertGateUp(stream.handle(), device_layer, device_batch, device_x.data(), a.data(), fp8);
  ExpertDown(stream.handle(), device_layer, device_batch, a.data(), out.data());
  ExpertCombine(stream.handle(), device_batch, out.data(), layer.tensors.hidden, y.data());
  return ToHost(stream, y);
}

std::vector<float> Expected(const ExpertTensors& tensors, const Batch& batch) {
  std::vector<float> expected(static_cast<size_t>(batch.tokens * tensors.hidden));
  ExpertMatmulReference(tensors, batch.x.data(), batch.tokens, batch.k, batch.ids.data(),
                        batch.weights.data(), expected.data());
  return expected;
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
    const std::vector<float> expected = Expected(layer.tensors, batch);
    const double largest = LargestOf(expected);
    for (const int64_t block : {16, 64, 128}) {
      const struct {
        const char* name;
        Format format;
        bool few_rows;
      } ways[] = {{"mxfp4", Format::kMxfp4, false},
                  {"bf16", Format::kBf16, false},
                  {"few rows", Format::kMxfp4, true}};
      for (const auto& way : ways) {
        const std::vector<float> y = Multiply(layer, batch, block, way.format, 0, 0, way.few_rows);
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
  const std::vector<float> expected = Expected(layer.tensors, batch);
  const struct {
    int64_t block;
    bool few_rows;
  } ways[] = {{16, false}, {64, false}, {128, false}, {16, true}};
  for (const auto& way : ways) {
    const std::vector<float> y =
        Multiply(layer, batch, way.block, Format::kMxfp4, 0.01f, 0.05f, way.few_rows);
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
  const std::vector<float> expected = Expected(layer.tensors, batch), y = Multiply(layer, batch, 16);
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
