#include "engine/scheduler/batcher.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace assay::engine {
namespace {

std::unique_ptr<ActiveRequest> Request(uint64_t id, size_t prompt, int64_t max_tokens = 1) {
  auto request = std::make_unique<ActiveRequest>();
  request->id = id;
  request->tokens = request->request.prompt = std::vector<int32_t>(prompt, 1);
  request->request.max_tokens = max_tokens;
  return request;
}

SchedulerOptions Options(int64_t seqs, int64_t batched_tokens, int64_t blocks, int64_t block_size = 4) {
  SchedulerOptions options;
  options.max_num_seqs = seqs;
  options.max_num_batched_tokens = batched_tokens;
  options.num_blocks = blocks;
  options.block_size = block_size;
  options.enable_prefix_caching = false;
  return options;
}

// A model whose layers all see everything, unless `sliding` says otherwise.
ModelConfig Config(const std::vector<bool>& sliding = {false}, int64_t window = 9) {
  ModelConfig config{};
  config.sliding = sliding;
  config.sliding_window = window;
  return config;
}

using Planned = std::vector<std::pair<uint64_t, int64_t>>;  // id, tokens

// Plans a step and does what the scheduler does with it.
Planned Step(Batcher& batcher) {
  Planned planned;
  for (const BatchItem& item : batcher.Plan()) {
    const bool ends = item.ReachesEnd();
    planned.emplace_back(item.request->id, item.tokens);
    batcher.Advance(item);
    if (ends) item.request->tokens.push_back(2);
  }
  return planned;
}

TEST(Batcher, CutsPromptsAtTheTokenBudgetAndPutsThoseThatGenerateFirst) {
  Batcher batcher(Options(8, 10, 64), Config());
  batcher.Add(Request(1, 8, 9));
  batcher.Add(Request(2, 7, 9));
  EXPECT_EQ(Step(batcher), (Planned{{1, 8}, {2, 2}}));
  batcher.Add(Request(3, 10, 9));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}, {2, 5}, {3, 4}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}, {2, 1}, {3, 6}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}, {2, 1}, {3, 1}}));
}

TEST(Batcher, ALongPromptLeavesHalfToOthersAndTakesWhatTheyLeave) {
  Batcher batcher(Options(8, 10, 64), Config());
  batcher.Add(Request(1, 34, 9));
  EXPECT_EQ(Step(batcher), (Planned{{1, 10}}));
  batcher.Add(Request(2, 3, 1));
  batcher.Add(Request(3, 40, 9));  // waits until 1 is no longer long
  batcher.Add(Request(4, 6, 9));   // may pass it
  EXPECT_EQ(Step(batcher), (Planned{{2, 3}, {4, 2}, {1, 5}}));
  batcher.Remove(2);
  EXPECT_EQ(Step(batcher), (Planned{{4, 4}, {1, 6}}));
  EXPECT_EQ(Step(batcher), (Planned{{4, 1}, {1, 9}}));  // 4 of 34 are left: it is not long any more
  EXPECT_EQ(Step(batcher), (Planned{{4, 1}, {1, 4}, {3, 5}}));
}

// Steps until `id` has its first token, while a new request of `flood` tokens comes with each step.
int64_t StepsBeside(size_t prompt, size_t flood, int64_t batched_tokens) {
  Batcher batcher(Options(32, batched_tokens, 4096), Config());
  uint64_t next_id = 1;
  for (; next_id <= 5; ++next_id) batcher.Add(Request(next_id, flood));
  const uint64_t id = next_id++;
  batcher.Add(Request(id, prompt));
  for (int64_t steps = 1; steps < 1000; ++steps) {
    batcher.Add(Request(next_id++, flood));
    std::vector<uint64_t> done;
    for (const BatchItem& item : batcher.Plan()) {
      if (item.ReachesEnd()) done.push_back(item.request->id);
      batcher.Advance(item);
    }
    for (const uint64_t d : done) {
      if (d == id) return steps;
      batcher.Remove(d);
    }
  }
  return 1000;
}

TEST(Batcher, NeitherLongNorShortPromptsStarveTheOthers) {
  // A flood of prompts that fill steps by themselves; half of each step still goes to the long one: 200
  // tokens at 8 a step, after the five before it.
  EXPECT_LE(StepsBeside(200, 16, 16), 5 + 200 / 8 + 1);
  // A flood of long prompts: a short one passes those that wait.
  EXPECT_EQ(StepsBeside(8, 200, 16), 1);
  // One token a step serves both in turn.
  EXPECT_LE(StepsBeside(20, 1, 1), 5 + 2 * 20 + 1);
  EXPECT_LE(StepsBeside(1, 200, 1), 2);
}

TEST(Batcher, PromptsNeverKeepOthersFromGenerating) {
  Batcher batcher(Options(8, 16, 4096), Config());
  for (uint64_t id = 1; id <= 4; ++id) batcher.Add(Request(id, 2, 100));
  Step(batcher);
  for (uint64_t id = 5; id <= 40; ++id) batcher.Add(Request(id, id % 3 == 0 ? 100 : 10, 100));
  for (int step = 0; step < 50; ++step) {
    std::map<uint64_t, int64_t> tokens;
    int64_t sum = 0;
    for (const auto& [id, count] : Step(batcher)) {
      tokens[id] = count;
      sum += count;
    }
    for (uint64_t id = 1; id <= 4; ++id) EXPECT_EQ(tokens[id], 1);
    EXPECT_LE(sum, 16);
  }
}

TEST(Batcher, SeatsAtMostMaxNumSeqsInOrderOfArrival) {
  Batcher batcher(Options(2, 100, 64), Config());
  for (uint64_t id = 1; id <= 3; ++id) batcher.Add(Request(id, 5, 9));
  EXPECT_EQ(Step(batcher), (Planned{{1, 5}, {2, 5}}));
  EXPECT_EQ(batcher.Waiting(), 1);
  batcher.Remove(1);
  EXPECT_EQ(Step(batcher), (Planned{{2, 1}, {3, 5}}));
}

TEST(Batcher, SetsTheNewestBackWhenBlocksRunOut) {
  Batcher batcher(Options(8, 100, 4), Config());  // 16 positions
  batcher.Add(Request(1, 7, 9));
  batcher.Add(Request(2, 7, 9));
  EXPECT_EQ(Step(batcher), (Planned{{1, 7}, {2, 7}}));  // two blocks each
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}, {2, 1}}));  // both full
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}}));          // 1 takes the blocks of 2
  EXPECT_EQ(batcher.Preemptions(), 1);
  EXPECT_EQ(batcher.Waiting(), 1);
  batcher.Remove(1);
  EXPECT_EQ(Step(batcher), (Planned{{2, 9}}));  // prompt and the two tokens it had, anew
}

TEST(Batcher, SetsARequestBackThatIsTheNewestItself) {
  Batcher batcher(Options(8, 100, 4), Config());
  batcher.Add(Request(1, 7, 1));
  batcher.Add(Request(2, 8, 8));
  EXPECT_EQ(Step(batcher), (Planned{{1, 7}, {2, 8}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}}));
  EXPECT_EQ(batcher.Running(), 1);
}

TEST(Batcher, ARequestThatWasSetBackComesBeforeThoseThatCameLater) {
  Batcher batcher(Options(2, 100, 4), Config());
  batcher.Add(Request(1, 8, 4));
  batcher.Add(Request(2, 8, 4));
  batcher.Add(Request(3, 4, 4));
  EXPECT_EQ(Step(batcher), (Planned{{1, 8}, {2, 8}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}}));  // 2 is set back
  batcher.Remove(1);
  EXPECT_EQ(Step(batcher), (Planned{{2, 9}, {3, 4}}));
}

TEST(Batcher, AdmitsNobodyPastARequestThatFindsNoBlocks) {
  Batcher batcher(Options(8, 100, 4), Config());
  batcher.Add(Request(1, 9, 1));
  batcher.Add(Request(2, 8, 1));  // two blocks, one is free
  batcher.Add(Request(3, 1, 1));  // would fit
  EXPECT_EQ(Step(batcher), (Planned{{1, 9}}));
}

TEST(Batcher, RemovingGivesAllBlocksBack) {
  Batcher batcher(Options(8, 6, 64), Config());
  for (uint64_t id = 1; id <= 3; ++id) batcher.Add(Request(id, 5, 9));
  Step(batcher);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_NE(batcher.Remove(id), nullptr);
  EXPECT_EQ(batcher.Remove(1), nullptr);
  EXPECT_EQ(batcher.Blocks().Free(), 64);
  EXPECT_TRUE(batcher.Plan().empty());
}

TEST(Batcher, ARequestThatWasSetBackFindsWhatIsLeftOfItsBlocks) {
  SchedulerOptions options = Options(8, 100, 6);
  options.enable_prefix_caching = true;
  Batcher batcher(options, Config());
  batcher.Add(Request(1, 11, 9));
  auto second = Request(2, 12, 9);
  std::fill(second->tokens.begin(), second->tokens.end(), 3);
  second->request.prompt = second->tokens;
  batcher.Add(std::move(second));
  EXPECT_EQ(Step(batcher), (Planned{{1, 11}, {2, 12}}));  // three blocks each
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}}));            // 2 finds no fourth
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}}));            // 1 takes the last block of 2
  batcher.Remove(1);
  EXPECT_EQ(Step(batcher), (Planned{{2, 5}}));  // two blocks are left of 12 tokens and one of output
  EXPECT_EQ(batcher.PrefixQueries(), 23) << "counted when a request first runs";
  EXPECT_EQ(batcher.PrefixHits(), 0);
}

// Random requests, aborts and ends over pools that are too small: after each step every block has as many
// owners as requests name it, every request ends, and in the end all blocks are free.
TEST(Batcher, KeepsItsBooksUnderMemoryPressureAndFinishesEveryRequest) {
  int64_t preemptions = 0, hits = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
    const std::vector<std::vector<bool>> patterns{{false}, {true}, {true, false}};
    const ModelConfig config = Config(patterns[seed % 3], 1 + below(20));
    SchedulerOptions options = Options(1 + below(12), 12 + below(40), 10 + below(20));
    options.num_sliding_blocks = 7 + below(20);
    options.enable_prefix_caching = below(4) > 0;
    Batcher batcher(options, config);
    uint64_t next_id = 1;
    int64_t unfinished = 0;
    for (int step = 0; step < 3000 && (step < 200 || unfinished > 0); ++step) {
      for (int64_t n = step < 200 ? below(3) : 0; n > 0; --n) {
        auto request = Request(next_id, static_cast<size_t>(1 + below(25)), 1 + below(15));
        for (int32_t& token : request->tokens) token = static_cast<int32_t>(below(2));
        request->request.prompt = request->tokens;
        request->request.client = std::string(1, static_cast<char>('a' + below(3)));
        request->request.use_prefix_cache = below(5) > 0;
        batcher.Add(std::move(request));
        ++next_id;
        ++unfinished;
      }
      if (below(10) == 0)
        unfinished -= batcher.Remove(static_cast<uint64_t>(below(static_cast<uint32_t>(next_id)))) != nullptr;
      std::vector<uint64_t> done;
      int64_t tokens = 0;
      for (const BatchItem& item : batcher.Plan()) {
        const bool ends = item.ReachesEnd();
        tokens += item.tokens;
        batcher.Advance(item);
        if (!ends) continue;
        item.request->tokens.push_back(static_cast<int32_t>(below(2)));
        if (item.request->OutputTokens() == item.request->request.max_tokens)
          done.push_back(item.request->id);
      }
      ASSERT_LE(tokens, options.max_num_batched_tokens);
      ASSERT_LE(batcher.Running(), options.max_num_seqs);
      for (const uint64_t id : done) unfinished -= batcher.Remove(id) != nullptr;
      batcher.Blocks().CheckOwners(batcher.Held());
    }
    EXPECT_EQ(unfinished, 0) << "seed " << seed;
    EXPECT_EQ(batcher.Blocks().Free(), batcher.Blocks().Total());
    preemptions += batcher.Preemptions();
    hits += batcher.PrefixHits();
    batcher.ForgetPrefixes();
  }
  EXPECT_GT(preemptions, 100);
  EXPECT_GT(hits, 100);
}

}  // namespace
}  // namespace assay::engine
