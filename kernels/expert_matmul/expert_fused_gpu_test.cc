// One launch against the three that it stands for, bit by bit, and against the reference; and what it leaves
// in its counters, on which the next launch waits.
#include "kernels/expert_matmul/expert_fused_gpu.h"

#include <cstring>

#include "kernels/expert_matmul/expert_gpu_test_support.h"

namespace assay::kernels::gpu {
namespace {

constexpr Way kBf16Rows{.few_rows = true};
constexpr Way kFp8Rows{.gate_up_scale = 0.01f, .down_scale = 0.05f, .few_rows = true};

DeviceBuffer<uint32_t> NewCounters(const Stream& stream, int64_t hidden) {
  return Input(stream, std::vector<uint32_t>(static_cast<size_t>(FusedCounters(hidden))));
}
bool AreZeros(const Stream& stream, const DeviceBuffer<uint32_t>& counters) {
  const std::vector<uint32_t> values = ToHost(stream, counters);
  return values == std::vector<uint32_t>(values.size());
}

std::vector<float> Grouped(const ExpertsOnDevice& experts) {
  experts.Clear();
  experts.Grouped();
  return experts.Result();
}
std::vector<float> Fused(const ExpertsOnDevice& experts, const DeviceBuffer<uint32_t>& counters) {
  experts.Clear();
  experts.Fused(counters);
  return experts.Result();
}

void ExpectSameBits(const std::vector<float>& values, const std::vector<float>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  size_t different = 0, first = values.size();
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::memcmp(&values[i], &expected[i], sizeof(float)) == 0) continue;
    if (different++ == 0) first = i;
  }
  EXPECT_EQ(different, 0u) << "of " << values.size() << ", first at " << first << ": " << values[first]
                           << " and not " << expected[first];
}

TEST(ExpertsFusedGpu, HasTheBitsOfTheThreeLaunches) {
  const struct {
    const char* name;
    int64_t experts, hidden, intermediate;
  } shapes[] = {{"32 experts", 32, 96, 160},     {"128 experts", 128, 96, 64},
                {"few experts", 4, 64, 96},      {"one block of k", 32, 32, 32},
                {"wide", 4, 2880, 32},           {"tall", 4, 32, 2880},
                {"k in two turns", 4, 3200, 96}, {"k that is not staged", 4, 96, 4160}};
  for (const auto& shape : shapes) {
    const RandomExperts layer(shape.experts, shape.hidden, shape.intermediate);
    for (const int64_t tokens : {1, 2, 4, 8, 16, 70}) {
      for (const int64_t k : {1, 4}) {
        for (const bool fp8 : {false, true}) {
          SCOPED_TRACE(std::string(shape.name) + ", " + std::to_string(tokens) + " tokens, k " +
                       std::to_string(k) + (fp8 ? ", fp8" : ""));
          const Stream stream;
          const Batch batch = MakeBatch(tokens, shape.experts, k, shape.hidden);
          const ExpertsOnDevice experts(stream, layer, batch, 16, fp8 ? kFp8Rows : kBf16Rows);
          ASSERT_TRUE(ExpertsFuse(experts.Layer(), experts.Batched()));
          const auto counters = NewCounters(stream, shape.hidden);
          ExpectSameBits(Fused(experts, counters), Grouped(experts));
          EXPECT_TRUE(AreZeros(stream, counters));
        }
      }
    }
  }
}

TEST(ExpertsFusedGpu, MatchesTheReference) {
  for (const int64_t num_experts : {32, 128}) {
    for (const bool fp8 : {false, true}) {
      RandomExperts layer(num_experts, 192, 160);
      if (fp8) {
        layer.tensors.gate_up_input_scale = kFp8Rows.gate_up_scale;
        layer.tensors.down_input_scale = kFp8Rows.down_scale;
      }
      const Batch batch = MakeBatch(40, num_experts, 4, 192);
      const std::vector<float> expected = ExpectedOfExperts(layer.tensors, batch);
      const Stream stream;
      const ExpertsOnDevice experts(stream, layer, batch, 16, fp8 ? kFp8Rows : kBf16Rows);
      const std::vector<float> y = Fused(experts, NewCounters(stream, 192));
      // As for the three launches: beside the border of two FP8 numbers a value may fall to either side.
      const Tolerance tolerance = fp8 ? Tolerance{1.0 / 64, 1e-5} : kBf16Activations;
      const double largest = LargestOf(expected);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_TRUE(Close(y[i], expected[i], tolerance, largest)) << y[i] << " vs " << expected[i];
    }
  }
}

// With more pieces than the device runs at once, and pieces of several runs of columns.
TEST(ExpertsFusedGpu, HasTheSameBitsEveryTimeInTheShapeOfThe20b) {
  const RandomExperts layer(8, 2880, 2880);
  for (const int64_t tokens : {1, 2, 8, 16}) {
    SCOPED_TRACE(tokens);
    const Stream stream;
    const Batch batch = MakeBatch(tokens, 8, 4, 2880);
    const ExpertsOnDevice experts(stream, layer, batch, 16, kBf16Rows);
    const auto counters = NewCounters(stream, 2880);
    const std::vector<float> expected = Grouped(experts);
    for (int round = 0; round < 20; ++round) ExpectSameBits(Fused(experts, counters), expected);
    EXPECT_TRUE(AreZeros(stream, counters));
  }
}

// Layers of other sizes one after the other, with the same counters and nothing between that waits: a launch
// may start before the one before it has ended.
TEST(ExpertsFusedGpu, LaunchesFollowEachOtherInAReplayedGraphWithOtherRouting) {
  constexpr int kRounds = 5, kAdditions = 3;
  const RandomExperts wide(32, 576, 96), many(128, 96, 192);
  const Stream stream;
  ExpertsOnDevice a(stream, wide, MakeBatch(3, 32, 4, 576), 16, kBf16Rows);
  ExpertsOnDevice b(stream, many, MakeBatch(9, 128, 4, 96), 16, kFp8Rows);
  const auto counters = NewCounters(stream, 576);
  const auto fused = [&] {
    for (int i = 0; i < kAdditions; ++i) {
      a.Fused(counters);
      b.Fused(counters);
    }
  };
  fused();  // loads what cannot be loaded while it is recorded
  const Graph graph = stream.Record(fused);
  for (uint32_t round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    a.Take(MakeBatch(3, 32, 4, 576, round + 10));
    b.Take(MakeBatch(9, 128, 4, 96, round + 20));
    stream.Replay(graph);
    const std::vector<float> y_a = a.Result(), y_b = b.Result();
    EXPECT_TRUE(AreZeros(stream, counters));
    a.Clear();
    b.Clear();
    for (int i = 0; i < kAdditions; ++i) {
      a.Grouped();
      b.Grouped();
    }
    ExpectSameBits(y_a, a.Result());
    ExpectSameBits(y_b, b.Result());
  }
}

TEST(ExpertsFusedGpu, PaddingRowsAddNothingAndReachNobody) {
  const RandomExperts layer(32, 64, 64);
  Batch batch = MakeBatch(8, 32, 4, 64);
  std::fill_n(batch.ids.end() - 4, 4, -1);
  std::fill_n(batch.x.end() - 64, 64, 1.0f);
  const Stream stream;
  ExpertsOnDevice experts(stream, layer, batch, 16, kBf16Rows);
  const auto counters = NewCounters(stream, 64);
  const std::vector<float> clean = Fused(experts, counters);
  for (const float poison :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::fill_n(batch.x.end() - 64, 64, poison);
    std::fill_n(batch.weights.end() - 4, 4, poison);
    experts.Take(batch);
    ExpectSameBits(Fused(experts, counters), clean);
  }
  EXPECT_EQ(std::vector<float>(clean.end() - 64, clean.end()), std::vector<float>(64));
}

TEST(ExpertsFusedGpu, OnlyPaddingLeavesEverythingAsItIs) {
  const RandomExperts layer(32, 64, 64);
  Batch batch = MakeBatch(4, 32, 4, 64);
  std::fill(batch.ids.begin(), batch.ids.end(), -1);
  const Stream stream;
  const ExpertsOnDevice experts(stream, layer, batch, 16, kBf16Rows);
  const auto counters = NewCounters(stream, 64);
  EXPECT_EQ(Fused(experts, counters), std::vector<float>(4 * 64));
  EXPECT_TRUE(AreZeros(stream, counters));
}

TEST(ExpertsFusedGpu, CountsOfMoreGatesThanThereAreEndAsTheyDoInThreeLaunches) {
  const RandomExperts layer(32, 64, 96);
  const Stream stream;
  const Batch batch = MakeBatch(6, 32, 4, 64);
  ExpertsOnDevice experts(stream, layer, batch, 16, kBf16Rows);
  experts.TakeWithWrongBits(batch);
  const auto counters = NewCounters(stream, 64);
  ExpectSameBits(Fused(experts, counters), Grouped(experts));
  EXPECT_TRUE(AreZeros(stream, counters));
}

TEST(ExpertsFusedGpu, OtherLayersAndBatchesDoNotFuse) {
  const RandomExperts layer(4, 64, 64);
  const Stream stream;
  const auto fuse = [&](int64_t tokens, int64_t block, const Way& way) {
    const ExpertsOnDevice experts(stream, layer, MakeBatch(tokens, 4, 2, 64), block, way);
    return ExpertsFuse(experts.Layer(), experts.Batched());
  };
  EXPECT_TRUE(fuse(4, 16, kBf16Rows));
  EXPECT_FALSE(fuse(4, 16, {})) << "tiles were asked for";
  EXPECT_FALSE(fuse(4, 64, kBf16Rows)) << "larger tiles";
  EXPECT_FALSE(fuse(4, 16, {Format::kBf16, 0, 0, true})) << "bf16 experts";
  EXPECT_FALSE(fuse(3200, 16, kBf16Rows)) << "more tiles than a block has room for";
}

}  // namespace
}  // namespace assay::kernels::gpu
