// What makes the noise of a repeated run zero: the bits of a request's logits do not depend on what else is
// in the batch, on how its tokens are cut into calls, on padding, threads or the tensor-parallel degree.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/model/model_test_support.h"

namespace assay::engine {
namespace {

using Random = std::mt19937;

CheckpointShape SmallShape() {
  CheckpointShape shape;
  shape.intermediate_size = 128;
  shape.num_attention_heads = 12;  // 3 queries a key-value head
  shape.num_key_value_heads = 4;
  shape.num_local_experts = 32;
  return shape;
}

ModelOptions SmallOptions() {
  ModelOptions options;
  options.threads = 1;
  options.max_batch_tokens = 256;
  options.num_blocks = 128;
  return options;
}

// What a user can choose to multiply with.
struct Numbers {
  const char* name;
  Activations activations;
  DenseDtype dense;
};
const Numbers kNumbers[] = {{"bf16 pairs", Activations::kBf16Pair, DenseDtype::kBf16},
                            {"int8 in experts", Activations::kInt8, DenseDtype::kBf16},
                            {"int8 everywhere", Activations::kInt8, DenseDtype::kInt8}};

ModelOptions SmallOptions(const Numbers& numbers) {
  ModelOptions options = SmallOptions();
  options.activations = numbers.activations;
  options.dense_dtype = numbers.dense;
  return options;
}

std::vector<std::vector<int32_t>> RandomPrompts(uint32_t seed, int count) {
  Random random(seed);
  std::vector<std::vector<int32_t>> prompts;
  for (int i = 0; i < count; ++i) {
    std::vector<int32_t> prompt(1 + random() % 150);
    for (int32_t& token : prompt) token = static_cast<int32_t>(random() % 256);
    prompts.push_back(prompt);
  }
  return prompts;
}

// Each prompt by itself, in one call.
std::vector<std::vector<float>> Alone(Model& model, const std::vector<std::vector<int32_t>>& prompts) {
  std::vector<std::vector<float>> logits;
  for (const auto& prompt : prompts) {
    Running request(prompt, 0, 12);
    logits.push_back(Prefill(model, request));
  }
  return logits;
}

// All prompts at once: every call takes a random part of some requests and a random number of padding rows.
std::vector<std::vector<float>> Together(Model& model, const std::vector<std::vector<int32_t>>& prompts,
                                         uint32_t seed, int64_t max_padding) {
  Random random(seed);
  std::vector<Running> requests;
  for (const auto& prompt : prompts)
    requests.emplace_back(prompt, static_cast<int32_t>(requests.size()) * 12, 12);
  std::vector<std::vector<float>> logits(prompts.size());
  for (size_t unfinished = prompts.size(); unfinished > 0;) {
    std::vector<Sequence> batch;
    std::vector<size_t> wanted;
    int64_t rows = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      Running& request = requests[i];
      const int64_t left = static_cast<int64_t>(request.tokens.size()) - request.done;
      if (left == 0 || random() % 3 == 0) continue;
      const int64_t count = std::min<int64_t>(left, 1 + static_cast<int64_t>(random() % 40));
      if (rows + count + max_padding > 256) continue;
      batch.push_back(request.Next(count, count == left));
      if (count == left) wanted.push_back(i);
      request.done += count;
      rows += count;
    }
    if (batch.empty()) continue;
    const int64_t padding =
        max_padding > 0 ? static_cast<int64_t>(random() % static_cast<uint32_t>(max_padding + 1)) : 0;
    std::vector<float> out;
    model.Forward(batch, rows + padding, out);
    for (size_t i = 0; i < wanted.size(); ++i) {
      logits[wanted[i]] = {out.begin() + static_cast<long>(i * 256),
                           out.begin() + static_cast<long>((i + 1) * 256)};
    }
    unfinished -= wanted.size();
  }
  return logits;
}

TEST(Invariance, BatchAndChunkingDoNotChangeABit) {
  const RandomModel checkpoint(SmallShape());
  const auto prompts = RandomPrompts(1, 9);
  for (const Numbers& numbers : kNumbers) {
    const auto model = checkpoint.Load(SmallOptions(numbers));
    const auto alone = Alone(*model, prompts);
    for (uint32_t seed = 0; seed < 5; ++seed) {
      EXPECT_EQ(Together(*model, prompts, seed, 0), alone) << numbers.name << " " << seed;
    }
  }
}

TEST(Invariance, ThreadsAndTensorParallelDegreeDoNotChangeABit) {
  const RandomModel checkpoint(SmallShape());
  const auto prompts = RandomPrompts(2, 6);
  for (const Numbers& numbers : kNumbers) {
    const auto expected = Alone(*checkpoint.Load(SmallOptions(numbers)), prompts);
    for (const int ranks : {1, 2, 4}) {
      for (const int threads : {1, 2, 3, 8}) {
        ModelOptions options = SmallOptions(numbers);
        options.tensor_parallel_size = ranks;
        options.threads = threads;
        const auto model = checkpoint.Load(options);
        EXPECT_EQ(Together(*model, prompts, 7, 0), expected)
            << numbers.name << " ranks " << ranks << " threads " << threads;
      }
    }
  }
}

TEST(Invariance, EightRanksDoNotChangeABit) {
  CheckpointShape shape = SmallShape();
  shape.num_key_value_heads = 8;
  shape.num_attention_heads = 24;
  const RandomModel checkpoint(shape);
  const auto prompts = RandomPrompts(4, 4);
  for (const Numbers& numbers : kNumbers) {
    const auto expected = Alone(*checkpoint.Load(SmallOptions(numbers)), prompts);
    for (const int ranks : {2, 4, 8}) {
      ModelOptions options = SmallOptions(numbers);
      options.tensor_parallel_size = ranks;
      options.threads = 2 * ranks;
      EXPECT_EQ(Together(*checkpoint.Load(options), prompts, 3, 0), expected)
          << numbers.name << " ranks " << ranks;
    }
  }
}

TEST(Invariance, PoisonedPaddingDoesNotChangeABit) {
  const RandomModel checkpoint(SmallShape());
  const auto prompts = RandomPrompts(3, 6);
  for (const Numbers& numbers : kNumbers) {
    const auto expected = Alone(*checkpoint.Load(SmallOptions(numbers)), prompts);
    ModelOptions options = SmallOptions(numbers);
    options.poison_padding = true;
    options.threads = 2;
    const auto model = checkpoint.Load(options);
    for (uint32_t seed = 0; seed < 5; ++seed) {
      const auto logits = Together(*model, prompts, seed, 40);
      EXPECT_EQ(logits, expected) << numbers.name << " " << seed;
      for (const auto& row : logits) {
        for (const float logit : row) ASSERT_TRUE(std::isfinite(logit));
      }
    }
  }
}

TEST(Invariance, BlocksOfOtherSizesAndPlacesDoNotChangeABit) {
  const RandomModel checkpoint(SmallShape());
  const auto prompts = RandomPrompts(4, 3);
  const auto expected = Alone(*checkpoint.Load(SmallOptions()), prompts);
  ModelOptions options = SmallOptions();
  options.block_size = 64;
  options.num_blocks = 40;
  EXPECT_EQ(Alone(*checkpoint.Load(options), prompts), expected);
}

// Logits of the prompt's last token when the sliding layers have `count` blocks that go round, each given
// back (its table entry -1) as soon as no later position sees it.
std::vector<float> WithSlidingRing(Model& model, const std::vector<int32_t>& prompt, int64_t chunk,
                                   int32_t count) {
  Running request(prompt, 0, 12);
  std::vector<int32_t> sliding;
  std::vector<float> logits;
  const auto total = static_cast<int64_t>(prompt.size());
  while (request.done < total) {
    const int64_t tokens = std::min(chunk, total - request.done);
    const int64_t seen_from = std::max<int64_t>(0, request.done - 127) / 16;
    for (int64_t i = 0; i < std::min<int64_t>(seen_from, static_cast<int64_t>(sliding.size())); ++i) {
      sliding[static_cast<size_t>(i)] = -1;
    }
    while (static_cast<int64_t>(sliding.size()) * 16 < request.done + tokens) {
      sliding.push_back(static_cast<int32_t>(sliding.size()) % count);
    }
    Sequence sequence = request.Next(tokens, request.done + tokens == total);
    sequence.sliding_block_table = sliding;
    model.Forward({&sequence, 1}, tokens, logits);
    request.done += tokens;
  }
  return logits;
}

TEST(Invariance, SlidingLayersNeedOnlyTheirWindow) {
  const RandomModel checkpoint(SmallShape());
  std::vector<int32_t> prompt(190);
  for (size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<int32_t>(i * 29 % 251);
  const auto expected = Alone(*checkpoint.Load(SmallOptions()), {prompt}).front();
  ModelOptions options = SmallOptions();
  for (const auto& [chunk, blocks] : std::vector<std::pair<int64_t, int32_t>>{{1, 9}, {16, 9}, {40, 10}}) {
    options.num_sliding_blocks = blocks;
    EXPECT_EQ(WithSlidingRing(*checkpoint.Load(options), prompt, chunk, blocks), expected) << chunk;
    options.num_sliding_blocks = blocks - 2;  // the window is overwritten while it is seen
    EXPECT_NE(WithSlidingRing(*checkpoint.Load(options), prompt, chunk, blocks - 2), expected) << chunk;
  }
}

TEST(ReferenceModel, AgreesWithTheFastOneAcrossTheWindowEdge) {
  const RandomModel checkpoint(SmallShape());
  ModelOptions options = SmallOptions();
  const auto fast = checkpoint.Load(options);
  options.moe_backend = MoeBackend::kReference;
  const auto reference = checkpoint.Load(options);
  for (const int64_t length : {127, 128, 129, 140}) {  // position 128 is the first that forgets a token
    std::vector<int32_t> prompt;
    for (int64_t i = 0; i < length; ++i) prompt.push_back(static_cast<int32_t>((i * 37 + length) % 256));
    Running a(prompt, 0, 12), b(prompt, 0, 12);
    const std::vector<float> expected = Prefill(*reference, a), logits = Prefill(*fast, b);
    double error = 0, largest = 0;
    for (size_t v = 0; v < logits.size(); ++v) {
      error = std::max(error, static_cast<double>(std::abs(logits[v] - expected[v])));
      largest = std::max(largest, static_cast<double>(std::abs(expected[v])));
    }
    EXPECT_LT(error, 0.025 * largest) << length;
  }
}

TEST(Model, TheFirst128TokensAloneDecideInASlidingLayer) {
  // One sliding layer: the token at position 0 is in the window of position 127 and not of 128.
  CheckpointShape shape = SmallShape();
  shape.num_hidden_layers = 1;
  const RandomModel checkpoint(shape);
  const auto logits = [&](int32_t first, size_t length) {
    std::vector<int32_t> prompt(length, 5);
    prompt[0] = first;
    const auto model = checkpoint.Load(SmallOptions());
    Running request(prompt, 0, 12);
    return Prefill(*model, request);
  };
  EXPECT_NE(logits(1, 128), logits(2, 128));
  EXPECT_EQ(logits(1, 129), logits(2, 129));
}

}  // namespace
}  // namespace assay::engine
