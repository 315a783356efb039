// The forward pass on a GPU against the reference on the CPU, and what it keeps for itself.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "engine/model/golden_test_support.h"
#include "engine/scheduler/sampler.h"
#include "kernels/collective/communicator.h"

namespace assay::engine {
namespace {

ModelOptions OnGpu() {
  ModelOptions options;
  options.device = Device::kGpu;
  options.max_batch_tokens = 512;
  options.num_blocks = 128;
  options.max_requests = 32;
  return options;
}

CheckpointShape SmallShape(int64_t experts = 32) {
  CheckpointShape shape;
  shape.intermediate_size = 128;
  shape.num_attention_heads = 12;  // 3 queries a key-value head
  shape.num_key_value_heads = 4;
  shape.num_local_experts = experts;
  return shape;
}

double RelativeError(const std::vector<float>& logits, const std::vector<float>& expected) {
  double error = 0, largest = 0;
  for (size_t v = 0; v < expected.size(); ++v) {
    error = std::max(error, std::abs(static_cast<double>(logits[v]) - expected[v]));
    largest = std::max(largest, std::abs(static_cast<double>(expected[v])));
  }
  return std::isnan(error) ? 1 : error / largest;
}

std::vector<int32_t> Prompt(int64_t length, int64_t seed) {
  std::vector<int32_t> prompt;
  for (int64_t i = 0; i < length; ++i) prompt.push_back(static_cast<int32_t>((i * 37 + seed * 11) % 256));
  return prompt;
}

TEST(DeviceModel, AgreesWithTheReferenceInEachCheckpointLayout) {
  // Where bf16 takes a key or a value over a border between two codes of FP8, that is a step of up to 1/8 of
  // it.
  const struct {
    WeightLayout layout;
    double typical;
  } rows[] = {{WeightLayout::kMxfp4, 0.03},
              {WeightLayout::kBf16, 0.03},
              {WeightLayout::kQuark, 0.03},
              {WeightLayout::kQuarkFp8, 0.03},
              {WeightLayout::kQuarkFp8Kv, 0.08}};
  for (const auto& [layout, typical] : rows) {
    const RandomModel checkpoint(RandomCheckpoint{SmallShape(), layout, 1, 1, {}});
    ModelOptions options = OnGpu();
    const auto gpu = checkpoint.Load(options);
    options.device = Device::kCpu;
    options.moe_backend = MoeBackend::kReference;
    const auto reference = checkpoint.Load(options);
    std::vector<double> errors;
    for (const int64_t length :
         {1, 17, 127, 128, 129, 140}) {  // position 128 is the first that forgets a token
      Running a(Prompt(length, length), 0, 12), b(Prompt(length, length), 0, 12);
      errors.push_back(RelativeError(Prefill(*gpu, a), Prefill(*reference, b)));
    }
    std::sort(errors.begin(), errors.end());
    // A token whose fourth and fifth expert nearly tie may take the other one: a jump, not an error of
    // arithmetic.
    EXPECT_LT(errors[errors.size() / 2], typical) << static_cast<int>(layout);
    EXPECT_LT(errors.back(), 0.3) << static_cast<int>(layout);
  }
}

TEST(DeviceModel, KeepsTheBundledModelsTypicalLogitsAndTokens) {
  const Path folder = Path(ASSAY_SOURCE_DIR) / "models/tiny-moe";
  int64_t same = 0, all = 0;
  for (const bool invariant : {true, false}) {
    ModelOptions options = OnGpu();
    options.batch_invariant = invariant;
    const auto model = RandomModel::LoadFrom(folder, options);
    for (const Golden& golden : LoadGoldenFile(folder / "golden.safetensors")) {
      std::vector<double> errors = LogitErrors(*model, golden);
      std::nth_element(errors.begin(), errors.begin() + static_cast<long>(errors.size() / 2), errors.end());
      EXPECT_LT(errors[errors.size() / 2], 0.025) << golden.prompt.size();
      const std::vector<int32_t> tokens = Greedy(*model, golden);
      for (size_t i = 0; i < tokens.size() && tokens[i] == golden.greedy[i]; ++i) ++same;
      all += static_cast<int64_t>(tokens.size());
    }
  }
  RecordProperty("same", static_cast<int>(same));
  RecordProperty("all", static_cast<int>(all));
  // Greedy answers of bf16 activations leave those of float32 at the first near tie.
  EXPECT_GT(same, all / 2) << same << " of " << all;
}

// Each prompt in chunks, some of them together, then as many decode steps; the logits of every decode step.
std::vector<std::vector<float>> Decode(Model& model, int64_t requests, int64_t steps, int64_t padding,
                                       int64_t chunk) {
  std::vector<Running> running;
  for (int64_t r = 0; r < requests; ++r) {
    running.emplace_back(Prompt(20 + 13 * r, r), static_cast<int32_t>(r * 12), 12);
    Prefill(model, running.back(), chunk);
    running.back().tokens.push_back(static_cast<int32_t>(r));
  }
  std::vector<std::vector<float>> all;
  for (int64_t step = 0; step < steps; ++step) {
    std::vector<Sequence> batch;
    for (Running& request : running) batch.push_back(request.Next(1, true));
    std::vector<float> logits;
    model.Forward(batch, requests + padding, logits);
    all.push_back(logits);
    const size_t vocabulary = logits.size() / static_cast<size_t>(requests);
    for (size_t r = 0; r < running.size(); ++r) {
      ++running[r].done;
      running[r].tokens.push_back(Largest(std::span(logits).subspan(r * vocabulary, vocabulary)));
    }
  }
  return all;
}

TEST(DeviceModel, PoisonedPaddingDoesNotChangeABitWithAndWithoutGraphs) {
  for (const int64_t experts : {32, 64, 128}) {
    for (const WeightLayout layout : {WeightLayout::kMxfp4, WeightLayout::kQuarkFp8Kv}) {
      const RandomModel checkpoint(RandomCheckpoint{SmallShape(experts), layout, 1, 1, {}});
      for (const bool invariant : {true, false}) {
        ModelOptions options = OnGpu();
        options.batch_invariant = invariant;
        const auto clean = Decode(*checkpoint.Load(options), 5, 6, 3, 1 << 20);
        for (const bool graphs : {false, true}) {
          for (const bool poison : {false, true}) {
            options.graph_replay = graphs;
            options.poison_padding = poison;
            const auto logits = Decode(*checkpoint.Load(options), 5, 6, 3, 1 << 20);
            EXPECT_EQ(logits, clean) << "experts " << experts << " graphs " << graphs << " poison " << poison
                                     << " invariant " << invariant;
            for (const auto& step : logits) {
              for (const float logit : step) ASSERT_TRUE(std::isfinite(logit));
            }
          }
        }
      }
    }
  }
}

TEST(DeviceModel, FusedExpertsAnswerAsGroupedOnesBitByBit) {
  const struct {
    WeightLayout layout;
    int64_t experts;
  } rows[] = {{WeightLayout::kMxfp4, 32},
              {WeightLayout::kMxfp4, 128},
              {WeightLayout::kQuarkFp8, 32},
              {WeightLayout::kBf16, 32}};  // computed as by grouped
  for (const auto& row : rows) {
    const RandomModel checkpoint(RandomCheckpoint{SmallShape(row.experts), row.layout, 1, 1, {}});
    const auto grouped = Decode(*checkpoint.Load(OnGpu()), 5, 6, 3, 1 << 20);
    ModelOptions options = OnGpu();
    options.moe_backend = MoeBackend::kFused;
    for (const bool graphs : {false, true}) {
      for (const bool poison : {false, true}) {
        options.graph_replay = graphs;
        options.poison_padding = poison;
        EXPECT_EQ(Decode(*checkpoint.Load(options), 5, 6, 3, 1 << 20), grouped)
            << static_cast<int>(row.layout) << " experts " << row.experts << " graphs " << graphs
            << " poison " << poison;
      }
    }
  }
}

TEST(DeviceModel, InvariantAnswersDoNotDependOnBatchChunksOrPadding) {
  const RandomModel checkpoint(SmallShape());
  ModelOptions options = OnGpu();
  options.batch_invariant = true;
  const auto model = checkpoint.Load(options);
  const auto expected = Decode(*model, 4, 4, 0, 1 << 20);
  EXPECT_EQ(Decode(*model, 4, 4, 4, 1 << 20), expected);
  EXPECT_EQ(Decode(*model, 4, 4, 0, 7), expected);
  const auto more = Decode(*model, 8, 4, 0, 1 << 20);
  for (size_t step = 0; step < expected.size(); ++step) {
    EXPECT_TRUE(std::equal(expected[step].begin(), expected[step].end(), more[step].begin())) << step;
  }
}

// The draw of each pick by the CPU's sampler, from the logits that the device hands over; nothing where a
// hair's breadth decides.
std::optional<int32_t> DrawnFrom(std::span<const float> logits, const Pick& pick) {
  Pick below = pick, above = pick;
  below.u = std::max(0.0, pick.u - 1e-5);
  above.u = std::min(1 - 0x1p-53, pick.u + 1e-5);
  const auto id = PickToken(logits, pick);
  return PickToken(logits, below) == id && PickToken(logits, above) == id ? id : std::nullopt;
}

TEST(DeviceModel, PicksTheTokensThatTheSamplerTakesFromItsLogits) {
  const Pick picks[] = {{},
                        {1, 0.3, 0, 1, 0},
                        {0.7, 0.999, 0, 1, 0},
                        {1.5, 0.5, 20, 1, 0},
                        {1, 0.8, 0, 0.7, 0},
                        {1, 0.2, 50, 0.9, 0.01}};
  const RandomModel checkpoint(SmallShape());
  int64_t compared = 0;
  for (const bool graphs : {false, true}) {
    ModelOptions options = OnGpu();
    options.batch_invariant = true;  // two batches of the same requests have the same logits
    options.graph_replay = graphs;
    const auto model = checkpoint.Load(options);
    for (const int64_t length : {40, 1}) {  // prompts, and a batch that is a graph
      std::vector<Running> running;
      std::vector<Sequence> batch;
      for (int32_t r = 0; r < 8; ++r) running.emplace_back(Prompt(length, r), r * 4, 4);
      for (const Running& request : running) batch.push_back(request.Next(length, true));
      std::vector<float> logits, rest;
      const int64_t rows = 8 * length, vocabulary = model->Config().vocab_size;
      model->Forward(batch, rows, logits);
      for (const int32_t picked : model->Picked()) EXPECT_EQ(picked, Model::kNotPicked);
      for (size_t shift = 0; shift < std::size(picks); ++shift) {
        // All picks at different requests, some of which want their logits all the same.
        for (size_t r = 0; r < batch.size(); ++r) {
          batch[r].pick = picks[(r + shift) % std::size(picks)];
          if ((2 * r + shift) % 5 == 3) batch[r].pick.reset();
        }
        model->Forward(batch, rows, rest);
        ASSERT_EQ(model->Picked().size(), batch.size());
        for (size_t r = 0; r < batch.size(); ++r) {
          const auto at = r * static_cast<size_t>(vocabulary);
          const auto of = std::span(logits).subspan(at, static_cast<size_t>(vocabulary));
          const int32_t picked = model->Picked()[r];
          if (!batch[r].pick) {
            EXPECT_EQ(picked, Model::kNotPicked);
            EXPECT_TRUE(std::equal(of.begin(), of.end(), rest.begin() + static_cast<long>(at)));
          } else if (const auto drawn = DrawnFrom(of, *batch[r].pick)) {
            EXPECT_EQ(picked, *drawn) << "request " << r << " shift " << shift << " graphs " << graphs;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 120);  // of some 150
}

// Ranks on GPUs of their own where there are enough, else all on one, which knows no graphs.
bool HaveOwnGpus(int ranks) {
  return ranks == 1 || kernels::gpu::CheckLibraryCommunicator(ranks).empty();
}
std::unique_ptr<Model> LoadRanks(const RandomModel& checkpoint, ModelOptions options, int ranks) {
  options.tensor_parallel_size = ranks;
  ::setenv("ASSAY_GPU_SHARE", HaveOwnGpus(ranks) ? "0" : "1", 1);
  auto model = checkpoint.Load(options);
  ::unsetenv("ASSAY_GPU_SHARE");
  return model;
}

TEST(DeviceRanks, InvariantAnswersDoNotDependOnTheTensorParallelDegree) {
  for (const WeightLayout layout : {WeightLayout::kMxfp4, WeightLayout::kBf16, WeightLayout::kQuarkFp8}) {
    CheckpointShape shape = SmallShape();
    shape.num_attention_heads = 24;
    shape.num_key_value_heads = 8;
    const RandomModel checkpoint(RandomCheckpoint{shape, layout, 1, 1, {}});
    ModelOptions options = OnGpu();
    options.batch_invariant = true;
    const auto expected = Decode(*LoadRanks(checkpoint, options, 1), 5, 6, 3, 50);
    for (const int ranks : {2, 4, 8}) {
      for (const bool graphs : {false, true}) {
        for (const bool poison : {false, true}) {
          if (graphs && !HaveOwnGpus(ranks)) continue;
          options.graph_replay = graphs;
          options.poison_padding = poison;
          const auto model = LoadRanks(checkpoint, options, ranks);
          EXPECT_EQ(Decode(*model, 5, 6, 3, 50), expected) << static_cast<int>(layout) << " ranks " << ranks
                                                           << " graphs " << graphs << " poison " << poison;
          EXPECT_EQ(Decode(*model, 1, 3, 0, 50).size(), 3u);
          EXPECT_EQ(Decode(*model, 5, 6, 3, 50), expected) << "after another shape, ranks " << ranks;
        }
      }
    }
  }
}

TEST(DeviceRanks, FusedIsComputedAsGroupedBySeveral) {
  const RandomModel checkpoint(SmallShape());
  ModelOptions options = OnGpu();
  const auto grouped = Decode(*LoadRanks(checkpoint, options, 2), 3, 4, 0, 50);
  options.moe_backend = MoeBackend::kFused;
  EXPECT_EQ(Decode(*LoadRanks(checkpoint, options, 2), 3, 4, 0, 50), grouped);
}

TEST(DeviceRanks, OtherAnswersStayNearThoseOfOneRank) {
  const RandomModel checkpoint(SmallShape());
  const auto alone = LoadRanks(checkpoint, OnGpu(), 1);
  for (const int ranks : {2, 4}) {
    const auto model = LoadRanks(checkpoint, OnGpu(), ranks);
    std::vector<double> errors;
    for (const int64_t length : {1, 17, 127, 140}) {
      Running a(Prompt(length, length), 0, 12), b(Prompt(length, length), 0, 12);
      errors.push_back(RelativeError(Prefill(*model, a), Prefill(*alone, b)));
    }
    std::sort(errors.begin(), errors.end());
    EXPECT_LT(errors[1], 0.02) << ranks;
    EXPECT_LT(errors.back(), 0.3) << ranks;  // the fourth and fifth expert may nearly tie
  }
}

TEST(DeviceRanks, ModelsOfSeveralRanksPickTheLargestLogit) {
  const RandomModel checkpoint(SmallShape());
  ModelOptions options = OnGpu();
  options.batch_invariant = true;
  const auto model = LoadRanks(checkpoint, options, 2);
  Running request(Prompt(40, 3), 0, 12), same(Prompt(40, 3), 12, 12);
  const std::vector<float> logits = Prefill(*model, request);
  Sequence greedy = same.Next(40, true);
  greedy.pick = Pick{};
  std::vector<float> unused;
  model->Forward({&greedy, 1}, 40, unused);
  ASSERT_EQ(model->Picked().size(), 1u);
  EXPECT_EQ(model->Picked()[0], Largest(logits));
}

TEST(DeviceModel, AGraphIsReplayedWithOtherRequestsAndLongerContexts) {
  const RandomModel checkpoint(SmallShape());
  ModelOptions options = OnGpu();
  options.batch_invariant = true;  // graphs and eager steps split keys alike
  const auto eager = checkpoint.Load(options);
  options.graph_replay = true;
  const auto graphs = checkpoint.Load(options);
  for (const int64_t requests : {3, 8, 5, 3}) {
    EXPECT_EQ(Decode(*graphs, requests, 5, 8 - requests, 1 << 20), Decode(*eager, requests, 5, 0, 1 << 20))
        << requests;
  }
}

}  // namespace
}  // namespace assay::engine
