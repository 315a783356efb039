// The promise of the engine, with a real model under random load: a request's tokens, and the bits of its
// logprobs, are the same whatever runs beside it, however its prompt is cut, whatever is cached, set back or
// padded, with any number of threads and ranks.
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <random>

#include "base/text.h"
#include "engine/model/model_test_support.h"
#include "engine/scheduler/scheduler.h"

namespace assay::engine {
namespace {

constexpr int64_t kVocabulary = 256;

CheckpointShape Shape(int64_t experts = 32) {
  CheckpointShape shape;
  shape.intermediate_size = 128;
  shape.num_attention_heads = 12;  // 3 queries a key-value head
  shape.num_key_value_heads = 4;
  shape.num_local_experts = experts;
  shape.sliding_window = 40;  // most prompts are longer
  return shape;
}

struct Answer {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;  // of each token and of the likeliest ones beside it
  bool operator==(const Answer&) const = default;
};

std::vector<GenerationRequest> RandomRequests(uint32_t seed, int count) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < count; ++i) {
    GenerationRequest& request = requests.emplace_back();
    // Half of the prompts begin alike.
    for (int64_t n = 0; i % 2 == 0 && n < 70; ++n) request.prompt.push_back(static_cast<int32_t>(n * 7 % 64));
    for (int64_t n = 1 + below(40); n > 0; --n)
      request.prompt.push_back(static_cast<int32_t>(below(kVocabulary)));
    request.max_tokens = 1 + below(12);
    request.temperature = i % 3 == 0 ? 0 : 0.9;
    request.frequency_penalty = i % 4 == 0 ? 0.5 : 0;
    request.logprobs = 2;
    request.seed = random();
    request.client = i % 5 == 0 ? "other" : "";
  }
  return requests;
}

std::future<Answer> Submit(Scheduler& scheduler, const GenerationRequest& request, uint64_t* id = nullptr) {
  struct State {
    Answer answer;
    std::promise<Answer> done;
  };
  const auto state = std::make_shared<State>();
  const uint64_t number = scheduler.Submit(request, [state](const GeneratedToken& token) {
    if (token.id >= 0) {
      state->answer.tokens.push_back(token.id);
      state->answer.logprobs.push_back(token.logprob);
      for (const TokenLogprob& top : token.top_logprobs) state->answer.logprobs.push_back(top.logprob);
    }
    if (token.finish != FinishReason::kNone) state->done.set_value(state->answer);
  });
  if (id != nullptr) *id = number;
  return state->done.get_future();
}

// How an engine is set up, and what else it does.
struct Load {
  const char* name;
  int threads = 1, ranks = 1;
  int64_t batched_tokens = 128, seqs = 32;
  int64_t blocks = 512, sliding_blocks = 0;
  bool cached = true, eager = true, poisoned = false, noise = false;
};

struct Engine {
  std::unique_ptr<Model> model;
  std::unique_ptr<Scheduler> scheduler;

  Engine(const RandomModel& checkpoint, const Load& load) {
    ModelOptions options;
    options.threads = load.threads;
    options.tensor_parallel_size = load.ranks;
    options.max_batch_tokens = load.batched_tokens;
    options.num_blocks = load.blocks;
    options.num_sliding_blocks = load.sliding_blocks;
    options.poison_padding = load.poisoned;
    model = checkpoint.Load(options);
    SchedulerOptions scheduling;
    scheduling.max_num_seqs = load.seqs;
    scheduling.max_num_batched_tokens = load.batched_tokens;
    scheduling.num_blocks = load.blocks;
    scheduling.num_sliding_blocks = load.sliding_blocks;
    scheduling.enable_prefix_caching = load.cached;
    scheduling.enforce_eager = load.eager;
    scheduler = Scheduler::Start(*model, scheduling);
  }
};

std::vector<Answer> Alone(const RandomModel& checkpoint, const std::vector<GenerationRequest>& requests) {
  const Engine engine(checkpoint, Load{.name = "alone", .cached = false});
  std::vector<Answer> answers;
  for (const auto& request : requests) answers.push_back(Submit(*engine.scheduler, request).get());
  return answers;
}

// All at once in a random order, between requests that are taken back.
std::vector<Answer> Together(const Engine& engine, const std::vector<GenerationRequest>& requests,
                             uint32_t seed, bool noise) {
  std::mt19937 random(seed);
  std::vector<size_t> order(requests.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::future<Answer>> pending(requests.size());
  std::vector<std::future<Answer>> taken_back;
  for (const size_t i : order) {
    pending[i] = Submit(*engine.scheduler, requests[i]);
    if (!noise || random() % 2 == 0) continue;
    uint64_t id = 0;
    taken_back.push_back(Submit(*engine.scheduler, requests[random() % requests.size()], &id));
    if (random() % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(random() % 3));
    engine.scheduler->Abort(id);
  }
  std::vector<Answer> answers;
  for (auto& answer : pending) answers.push_back(answer.get());
  for (auto& answer : taken_back) answer.wait();
  return answers;
}

TEST(InvarianceUnderLoad, NothingAroundARequestChangesItsAnswer) {
  const RandomModel checkpoint(Shape());
  const auto requests = RandomRequests(1, 24);
  const std::vector<Answer> alone = Alone(checkpoint, requests);
  const Load loads[] = {
      {.name = "batched"},
      {.name = "no prefix cache", .cached = false},
      {.name = "small chunks", .batched_tokens = 19, .seqs = 12},
      {.name = "two threads, aborts between", .threads = 2, .noise = true},
      {.name = "three threads, few blocks",
       .threads = 3,
       .batched_tokens = 64,
       .blocks = 24,
       .sliding_blocks = 14},
      {.name = "few sliding blocks", .batched_tokens = 64, .blocks = 64, .sliding_blocks = 9},
      {.name = "few blocks, no prefix cache, padded", .blocks = 20, .cached = false, .eager = false},
      {.name = "two ranks, poisoned padding", .threads = 2, .ranks = 2, .eager = false, .poisoned = true},
      {.name = "four ranks, few blocks, poisoned padding, aborts between",
       .threads = 4,
       .ranks = 4,
       .batched_tokens = 40,
       .blocks = 24,
       .sliding_blocks = 12,
       .eager = false,
       .poisoned = true,
       .noise = true}};
  for (const Load& load : loads) {
    SCOPED_TRACE(load.name);
    const Engine engine(checkpoint, load);
    for (const uint32_t seed : {1, 2}) {  // the second time the cache is warm
      const std::vector<Answer> together = Together(engine, requests, seed, load.noise);
      for (size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(together[i].tokens, alone[i].tokens) << "request " << i;
        EXPECT_EQ(together[i].logprobs, alone[i].logprobs) << "request " << i;
      }
    }
    const SchedulerStats stats = engine.scheduler->Stats();
    EXPECT_EQ(stats.free_blocks, stats.total_blocks);
    EXPECT_EQ(stats.prefix_cache_hits > 0, load.cached);
    EXPECT_TRUE(load.blocks > 30 || stats.preemptions > 0);
    EXPECT_TRUE(engine.scheduler->ResetPrefixCache());
  }
}

TEST(InvarianceUnderLoad, PoisonedPaddingReachesNobodyWhateverTheNumberOfExperts) {
  for (const int64_t experts : {4, 8, 32, 64, 128}) {
    const RandomModel checkpoint(Shape(experts));
    const auto requests = RandomRequests(static_cast<uint32_t>(experts), 9);
    const std::vector<Answer> alone = Alone(checkpoint, requests);
    for (const int64_t batched_tokens : {9, 31, 100}) {  // padded up to 8, 24 and 96
      SCOPED_TRACE(std::to_string(experts) + " experts, " + std::to_string(batched_tokens) +
                   " tokens a step");
      const Engine engine(checkpoint, {.name = "",
                                       .batched_tokens = batched_tokens,
                                       .seqs = 7,
                                       .blocks = 40,
                                       .sliding_blocks = 20,
                                       .eager = false,
                                       .poisoned = true});
      EXPECT_EQ(Together(engine, requests, 3, false), alone);
    }
  }
}

TEST(InvarianceUnderLoad, HoldsForEveryPatternOfLayers) {
  for (const char* kind : {"sliding_attention", "full_attention"}) {
    SCOPED_TRACE(kind);
    const RandomModel checkpoint(Shape());
    const Path config = checkpoint.folder / "config.json";
    std::string text = ReadFile(config).value();
    text = ReplaceAll(ReplaceAll(text, "sliding_attention", "full_attention"), "full_attention", kind);
    std::ofstream(config) << text;
    const auto requests = RandomRequests(5, 12);
    const std::vector<Answer> alone = Alone(checkpoint, requests);
    const Engine engine(checkpoint, {.name = kind,
                                     .batched_tokens = 48,
                                     .blocks = 20,
                                     .sliding_blocks = 12,
                                     .eager = false,
                                     .poisoned = true});
    for (const uint32_t seed : {1, 2}) EXPECT_EQ(Together(engine, requests, seed, false), alone);
    EXPECT_GT(engine.scheduler->Stats().prefix_cache_hits, 0);
  }
}

}  // namespace
}  // namespace assay::engine
