#include "engine/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include <future>
#include <limits>
#include <random>
#include <thread>

#include "engine/scheduler/fake_model.h"

namespace assay::engine {
namespace {

constexpr int64_t kVocabulary = 50;

// What one request was answered.
struct Answer {
  std::vector<int32_t> tokens;
  FinishReason finish = FinishReason::kNone;
  int64_t output_tokens = 0;
  std::string error;
  std::vector<float> logprobs;  // of the tokens, where asked for
  bool operator==(const Answer&) const = default;
};

class Pending {
 public:
  Pending() : state_(std::make_shared<State>()) {}
  Scheduler::OnToken Sink() {
    return [state = state_](const GeneratedToken& token) {
      if (token.id >= 0) state->answer.tokens.push_back(token.id);
      if (!token.top_logprobs.empty()) state->answer.logprobs.push_back(token.logprob);
      state->count = state->answer.tokens.size();
      state->last = token;
      if (token.finish == FinishReason::kNone) return;
      state->answer.finish = token.finish;
      state->answer.output_tokens = token.output_tokens;
      state->answer.error = token.error;
      state->done.set_value();
    };
  }
  Answer Wait() {
    state_->done.get_future().wait();
    return state_->answer;
  }
  const GeneratedToken& Last() const { return state_->last; }  // after Wait
  size_t TokensSoFar() const { return state_->count; }

 private:
  struct State {
    Answer answer;
    GeneratedToken last;
    std::atomic<size_t> count = 0;
    std::promise<void> done;
  };
  std::shared_ptr<State> state_;
};

GenerationRequest Request(std::vector<int32_t> prompt, int64_t max_tokens) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  return request;
}

SchedulerOptions Options(int64_t num_blocks, int64_t block_size) {
  SchedulerOptions options;
  options.num_blocks = num_blocks;
  options.block_size = block_size;
  return options;
}

// The answer of an engine that does nothing else.
Answer AnswerAlone(const GenerationRequest& request) {
  FakeModel model(kVocabulary, 64, 16);
  const auto scheduler = Scheduler::Start(model, Options(64, 16));
  Pending pending;
  scheduler->Submit(request, pending.Sink());
  return pending.Wait();
}

GenerationRequest RandomRequest(std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return static_cast<int64_t>(random() % n); };
  GenerationRequest request;
  // Some prompts begin alike, as a system prompt does.
  for (int64_t n = below(2) * below(40); n > 0; --n) request.prompt.push_back(static_cast<int32_t>(n % 3));
  for (int64_t n = 1 + below(40); n > 0; --n)
    request.prompt.push_back(static_cast<int32_t>(below(kVocabulary)));
  request.max_tokens = 1 + below(24);
  if (below(2) == 0) request.temperature = 0.5 + 0.1 * static_cast<double>(below(10));
  if (below(3) == 0) request.top_k = 1 + below(8);
  if (below(3) == 0) request.top_p = 0.8;
  if (below(4) == 0) request.min_p = 0.05;
  if (below(3) == 0) request.stop_ids = {static_cast<int32_t>(below(kVocabulary)), 7};
  if (below(4) == 0) request.min_tokens = below(5);
  if (below(4) == 0) request.presence_penalty = 0.7;
  if (below(4) == 0) request.frequency_penalty = 0.3;
  if (below(4) == 0) request.repetition_penalty = 1.2;
  if (below(4) == 0) request.logit_bias = {{static_cast<int32_t>(below(kVocabulary)), 3.0f}};
  if (below(4) == 0) request.logprobs = 3;
  request.client = std::string(1, static_cast<char>('a' + below(4)));
  request.seed = random();
  return request;
}

uint64_t AllAlike(const PrefixNode*, std::span<const int32_t>) {
  return 1;
}

TEST(Scheduler, GivesTheArgmaxOfEachHistory) {
  FakeModel model(kVocabulary, 64, 4, [](FakeModel::History history, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), 0.0f);
    logits[static_cast<size_t>(history.back() + 1)] = 1;
  });
  const auto scheduler = Scheduler::Start(model, Options(64, 4));
  Pending pending;
  scheduler->Submit(Request({5, 10}, 4), pending.Sink());
  EXPECT_EQ(pending.Wait(), (Answer{{11, 12, 13, 14}, FinishReason::kLength, 4, "", {}}));
}

TEST(Scheduler, EndsAtAStopIdAndReportsIt) {
  FakeModel model(kVocabulary, 64, 4, [](FakeModel::History history, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), 0.0f);
    logits[static_cast<size_t>(history.back() + 1)] = 1;
  });
  const auto scheduler = Scheduler::Start(model, Options(64, 4));
  GenerationRequest request = Request({5}, 40);
  request.stop_ids = {9};
  Pending pending;
  scheduler->Submit(request, pending.Sink());
  EXPECT_EQ(pending.Wait(), (Answer{{6, 7, 8, 9}, FinishReason::kStop, 4, "", {}}));
}

TEST(Scheduler, ClampsMaxTokensToTheContext) {
  FakeModel model(kVocabulary, 4, 4);
  const auto scheduler = Scheduler::Start(model, Options(4, 4));
  EXPECT_EQ(scheduler->MaxModelLen(), 16);
  Pending pending;
  scheduler->Submit(Request(std::vector<int32_t>(10, 1), std::numeric_limits<int64_t>::max()),
                    pending.Sink());
  EXPECT_EQ(pending.Wait().output_tokens, 6);
}

TEST(Scheduler, AnswersDoNotDependOnTheRestOfTheBatch) {
  std::mt19937_64 random(1);
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 150; ++i) requests.push_back(RandomRequest(random));
  std::vector<Answer> alone;
  for (const auto& request : requests) alone.push_back(AnswerAlone(request));

  const std::vector<bool> both{true, false};
  const struct {
    const char* name;
    int64_t seqs, batched_tokens, blocks, sliding_blocks, block_size;
    bool eager = true, cached = true;
    PrefixTree::Hash hash = nullptr;
  } loads[] = {{"roomy", 64, 512, 4096, 4096, 16},
               {"padded", 64, 512, 4096, 4096, 16, false},
               {"no prefix cache", 64, 512, 4096, 4096, 16, true, false},
               {"all prefixes hash alike", 64, 512, 4096, 4096, 16, true, true, AllAlike},
               {"tiny chunks", 16, 16, 4096, 4096, 16},
               {"one at a time", 1, 512, 64, 64, 16},
               {"short of blocks", 32, 64, 28, 28, 4},
               {"short of blocks, no prefix cache", 32, 64, 28, 28, 4, true, false},
               {"short of blocks, padded", 32, 64, 27, 27, 4, false},
               {"short of blocks, all alike", 32, 64, 28, 28, 4, true, true, AllAlike},
               {"short of sliding blocks", 32, 64, 100, 12, 4},
               {"single-token blocks", 32, 48, 110, 90, 1}};
  for (const auto& load : loads) {
    SCOPED_TRACE(load.name);
    FakeModel model(kVocabulary, load.blocks, load.block_size, {}, {both, 10, load.sliding_blocks});
    SchedulerOptions options = Options(load.blocks, load.block_size);
    options.num_sliding_blocks = load.sliding_blocks;
    options.max_num_seqs = load.seqs;
    options.max_num_batched_tokens = load.batched_tokens;
    options.enforce_eager = load.eager;
    options.enable_prefix_caching = load.cached;
    options.prefix_hash = load.hash;
    const auto scheduler = Scheduler::Start(model, options);
    for (const char* pass : {"first", "again"}) {
      std::vector<Pending> pending(requests.size());
      for (size_t i = 0; i < requests.size(); ++i) scheduler->Submit(requests[i], pending[i].Sink());
      for (size_t i = 0; i < requests.size(); ++i) {
        EXPECT_EQ(pending[i].Wait(), alone[i]) << "request " << i << " " << pass;
      }
    }
    const SchedulerStats stats = scheduler->Stats();
    EXPECT_EQ(stats.free_blocks, stats.total_blocks);
    EXPECT_EQ(stats.running + stats.waiting, 0);
    EXPECT_EQ(stats.preemptions > 0, std::min(load.blocks, load.sliding_blocks) * load.block_size < 120)
        << stats.preemptions;
    EXPECT_EQ(stats.prefix_cache_hits > 0, load.cached);
    for (const auto& step : model.Steps()) {
      EXPECT_LE(step.rows, load.batched_tokens);
      EXPECT_LE(static_cast<int64_t>(step.sequences), load.seqs);
      EXPECT_TRUE(!load.eager || step.padded_rows == step.rows);
    }
  }
}

TEST(Scheduler, ModelsWhoseLayersAllSlideForgetAndModelsThatNeverSlideDoNot) {
  std::mt19937_64 random(5);
  std::vector<GenerationRequest> requests;
  for (int i = 0; i < 60; ++i) requests.push_back(RandomRequest(random));
  for (const bool slides : {true, false}) {
    SCOPED_TRACE(slides);
    const std::vector<bool> layers{slides, slides};
    std::vector<Answer> alone;
    for (const auto& request : requests) {
      FakeModel model(kVocabulary, 64, 16, {}, {layers, 10, 64});
      const auto scheduler = Scheduler::Start(model, Options(64, 16));
      Pending pending;
      scheduler->Submit(request, pending.Sink());
      alone.push_back(pending.Wait());
    }
    const int64_t blocks = slides ? 14 : 30;
    FakeModel model(kVocabulary, blocks, 4, {}, {layers, 10, blocks});
    SchedulerOptions options = Options(blocks, 4);
    options.max_num_batched_tokens = 64;
    const auto scheduler = Scheduler::Start(model, options);
    EXPECT_EQ(scheduler->MaxModelLen(), slides ? 1 << 20 : 120);
    std::vector<Pending> pending(requests.size());
    for (size_t i = 0; i < requests.size(); ++i) scheduler->Submit(requests[i], pending[i].Sink());
    for (size_t i = 0; i < requests.size(); ++i) EXPECT_EQ(pending[i].Wait(), alone[i]) << "request " << i;
    EXPECT_EQ(scheduler->Stats().free_blocks, blocks);
  }
}

TEST(Scheduler, ReportsWhatThePrefixCacheHadAndForgetsItWhenTold) {
  FakeModel model(kVocabulary, 64, 4);
  const auto scheduler = Scheduler::Start(model, Options(64, 4));
  const auto cached = [&](const GenerationRequest& request) {
    Pending pending;
    scheduler->Submit(request, pending.Sink());
    pending.Wait();
    return pending.Last().cached_tokens;
  };
  GenerationRequest request = Request(std::vector<int32_t>(21, 3), 2);
  EXPECT_EQ(cached(request), 0);
  EXPECT_EQ(cached(request), 20);
  request.use_prefix_cache = false;
  EXPECT_EQ(cached(request), 0);
  request.use_prefix_cache = true;
  EXPECT_EQ(scheduler->Stats().prefix_cache_queries, 42);
  EXPECT_EQ(scheduler->Stats().prefix_cache_hits, 20);
  EXPECT_TRUE(scheduler->ResetPrefixCache());
  EXPECT_EQ(cached(request), 0);
  EXPECT_EQ(cached(request), 20);
}

TEST(Scheduler, KeepsThePrefixCacheWhileRequestsRun) {
  FakeModel model(kVocabulary, 4096, 16);
  const auto scheduler = Scheduler::Start(model, Options(4096, 16));
  Pending pending;
  const uint64_t id = scheduler->Submit(Request({1, 2, 3}, 60000), pending.Sink());
  EXPECT_FALSE(scheduler->ResetPrefixCache());
  scheduler->Abort(id);
  pending.Wait();
  EXPECT_TRUE(scheduler->ResetPrefixCache());
}

TEST(Scheduler, MultiTurnPromptsFindTheAnswersThatCameBefore) {
  FakeModel model(kVocabulary, 64, 4);
  const auto scheduler = Scheduler::Start(model, Options(64, 4));
  std::vector<int32_t> conversation(10, 3);
  for (int64_t turn = 0; turn < 4; ++turn) {
    Pending pending;
    scheduler->Submit(Request(conversation, 8), pending.Sink());
    const Answer answer = pending.Wait();
    // All but the last token of the turn before is computed, in whole blocks.
    EXPECT_EQ(pending.Last().cached_tokens, turn == 0 ? 0 : (turn * 10 + 7) / 4 * 4) << turn;
    conversation.insert(conversation.end(), answer.tokens.begin(), answer.tokens.end());
    conversation.insert(conversation.end(), 2, 5);
  }
}

TEST(Scheduler, TimesAddUp) {
  FakeModel model(kVocabulary, 64, 16);
  model.before_forward = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  SchedulerOptions options = Options(64, 16);
  options.max_num_seqs = 1;
  const auto scheduler = Scheduler::Start(model, options);
  Pending first, second;
  scheduler->Submit(Request({1}, 3), first.Sink());
  scheduler->Submit(Request({2}, 2), second.Sink());
  second.Wait();
  EXPECT_LT(first.Last().queue_seconds, second.Last().queue_seconds);
  EXPECT_GE(second.Last().queue_seconds, 0.006) << "three steps of the first";
  EXPECT_GE(second.Last().prefill_seconds, 0.002);
  EXPECT_GE(second.Last().since_previous_seconds, 0.002);
}

TEST(Scheduler, PadsToCapturedSizesUnlessEager) {
  FakeModel model(kVocabulary, 64, 16);
  SchedulerOptions options = Options(64, 16);
  options.enforce_eager = false;
  const auto scheduler = Scheduler::Start(model, options);
  Pending pending;
  scheduler->Submit(Request(std::vector<int32_t>(11, 1), 2), pending.Sink());
  pending.Wait();
  const auto steps = model.Steps();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].rows, 11);
  EXPECT_EQ(steps[0].padded_rows, 16);
  EXPECT_EQ(steps[1].padded_rows, 1);
}

TEST(Scheduler, LeaksNoBlockOverThousandsOfRequestsAndAborts) {
  constexpr int64_t kBlocks = 40;
  FakeModel model(kVocabulary, kBlocks, 4, {}, {{true, false}, 10, 20});
  SchedulerOptions options = Options(kBlocks, 4);
  options.num_sliding_blocks = 20;
  options.max_num_seqs = 16;
  options.max_num_batched_tokens = 64;
  const auto scheduler = Scheduler::Start(model, options);
  std::mt19937_64 random(2);
  int64_t aborted = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<Pending> pending(40);
    for (Pending& p : pending) {
      const uint64_t id = scheduler->Submit(RandomRequest(random), p.Sink());
      if (random() % 4 == 0) scheduler->Abort(id - random() % 8);
    }
    for (Pending& p : pending) aborted += p.Wait().finish == FinishReason::kAbort;
  }
  EXPECT_GT(aborted, 100);
  EXPECT_EQ(scheduler->Stats().free_blocks, scheduler->Stats().total_blocks);
  EXPECT_EQ(scheduler->StalledSeconds(), 0);
  EXPECT_TRUE(scheduler->ResetPrefixCache());
}

TEST(Scheduler, AbortFreesTheBlocksOfARunningRequest) {
  FakeModel model(kVocabulary, 4096, 16);
  const auto scheduler = Scheduler::Start(model, Options(4096, 16));
  Pending pending;
  const uint64_t id = scheduler->Submit(Request({1, 2, 3}, 60000), pending.Sink());
  while (pending.TokensSoFar() < 3) std::this_thread::yield();
  scheduler->Abort(id);
  EXPECT_EQ(pending.Wait().finish, FinishReason::kAbort);
  EXPECT_EQ(scheduler->Stats().free_blocks, 4096);
}

TEST(Scheduler, ARowOfNaNFailsItsRequestAlone) {
  FakeModel model(kVocabulary, 64, 4, [](FakeModel::History history, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), 0.0f);
    if (history.front() == 9 && history.size() == 3) logits[20] = std::numeric_limits<float>::quiet_NaN();
  });
  const auto scheduler = Scheduler::Start(model, Options(64, 4));
  Pending bad, good;
  scheduler->Submit(Request({9}, 10), bad.Sink());
  scheduler->Submit(Request({8}, 10), good.Sink());
  const Answer answer = bad.Wait();
  EXPECT_EQ(answer.finish, FinishReason::kError);
  EXPECT_EQ(answer.tokens.size(), 2u);
  EXPECT_NE(answer.error.find("not numbers"), std::string::npos);
  EXPECT_EQ(good.Wait().finish, FinishReason::kLength);
  EXPECT_EQ(scheduler->Stats().free_blocks, 64);
}

TEST(Scheduler, StoppingEndsWhatIsUnfinished) {
  FakeModel model(kVocabulary, 4096, 16);
  auto scheduler = Scheduler::Start(model, Options(4096, 16));
  std::vector<Pending> pending(5);
  for (Pending& p : pending) scheduler->Submit(Request({1}, 60000), p.Sink());
  scheduler.reset();
  for (Pending& p : pending) EXPECT_EQ(p.Wait().finish, FinishReason::kAbort);
}

TEST(Scheduler, CountsTheTimeSinceTheLastStepAsStalled) {
  FakeModel model(kVocabulary, 64, 16);
  std::promise<void> release;
  model.before_forward = [&, gate = release.get_future().share()] { gate.wait(); };
  const auto scheduler = Scheduler::Start(model, Options(64, 16));
  EXPECT_EQ(scheduler->StalledSeconds(), 0);
  Pending pending;
  scheduler->Submit(Request({1}, 1), pending.Sink());
  while (scheduler->StalledSeconds() < 0.02) std::this_thread::yield();
  release.set_value();
  pending.Wait();
  EXPECT_EQ(scheduler->StalledSeconds(), 0);
}

TEST(Scheduler, CountsPromptAndOutputTokensOnce) {
  FakeModel model(kVocabulary, 20, 4);  // small enough for pre-emption
  const auto scheduler = Scheduler::Start(model, Options(20, 4));
  std::vector<Pending> pending(10);
  for (Pending& p : pending) scheduler->Submit(Request(std::vector<int32_t>(10, 3), 20), p.Sink());
  for (Pending& p : pending) p.Wait();
  EXPECT_GT(scheduler->Stats().preemptions, 0);
  EXPECT_EQ(scheduler->Stats().prompt_tokens, 100);
  EXPECT_EQ(scheduler->Stats().generated_tokens, 200);
}

// Requests that a GPU picks the tokens of itself, then ones whose logits it has to hand over.
std::vector<GenerationRequest> PickedAndOthers() {
  std::vector<GenerationRequest> requests;
  for (int32_t i = 0; i < 9; ++i) requests.push_back(Request({1, 2, i}, 9));
  requests[1].temperature = 0.8;
  requests[2].temperature = 1.5;
  requests[2].top_k = 7;
  requests[2].top_p = 0.9;
  requests[2].min_p = 0.05;
  requests[3].logprobs = 2;
  requests[4].repetition_penalty = 1.3;
  requests[5].logit_bias = {{7, 3.0f}};
  requests[6].min_tokens = 4;
  requests[6].stop_ids = {3, 5, 8, 13, 21, 34, 40, 41, 42};
  requests[7].temperature = 0.8;
  requests[7].presence_penalty = 0.4;
  requests[8].temperature = 1.2;
  requests[8].logprobs = 1;
  for (size_t i = 0; i < requests.size(); ++i) requests[i].seed = 40 + i;
  return requests;
}

// A GPU picks tokens itself and copies no logits; the fake one spoils those that it did not leave.
TEST(Scheduler, AModelThatPicksTokensChangesNoAnswer) {
  for (const GenerationRequest& request : PickedAndOthers()) {
    FakeModel model(kVocabulary, 64, 4);
    model.picks = true;
    Pending pending;
    const auto scheduler = Scheduler::Start(model, Options(64, 4));
    scheduler->Submit(request, pending.Sink());
    EXPECT_EQ(pending.Wait(), AnswerAlone(request)) << request.prompt.back();
  }
}

TEST(Scheduler, AsksForAPickWhereNothingElseThanTheLogitsMatters) {
  for (const GenerationRequest& request : PickedAndOthers()) {
    SCOPED_TRACE(request.prompt.back());
    FakeModel model(kVocabulary, 64, 4);
    Pending pending;
    const auto scheduler = Scheduler::Start(model, Options(64, 4));
    scheduler->Submit(request, pending.Sink());
    const Answer answer = pending.Wait();
    const std::vector<std::optional<Pick>> asked = model.Asked();
    ASSERT_EQ(asked.size(), answer.tokens.size());
    for (size_t n = 0; n < asked.size(); ++n) {
      const int32_t which = request.prompt.back();
      // min_tokens forbids the stop ids of the first four.
      const bool picked = which <= 2 || (which == 6 && n >= 4);
      ASSERT_EQ(asked[n].has_value(), picked) << n;
      if (!picked) continue;
      EXPECT_EQ(asked[n]->temperature, request.temperature);
      if (request.temperature == 0) continue;
      EXPECT_EQ(asked[n]->u, UniformDraw(request.seed, n));
      EXPECT_EQ(asked[n]->top_k, request.top_k);
      EXPECT_EQ(asked[n]->top_p, request.top_p);
      EXPECT_EQ(asked[n]->min_p, request.min_p);
    }
  }
}

TEST(Scheduler, ARowThatSaysNothingIsAnErrorWhereTheModelPicksToo) {
  FakeModel model(kVocabulary, 64, 4, [](FakeModel::History, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), std::numeric_limits<float>::quiet_NaN());
  });
  model.picks = true;
  Pending pending;
  const auto scheduler = Scheduler::Start(model, Options(64, 4));
  scheduler->Submit(Request({1, 2}, 9), pending.Sink());
  EXPECT_EQ(pending.Wait().finish, FinishReason::kError);
}

}  // namespace
}  // namespace assay::engine
