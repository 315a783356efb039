#include "engine/scheduler/batcher.h"

#include <gtest/gtest.h>

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
  return options;
}

using Planned = std::vector<std::pair<uint64_t, int64_t>>;  // id, tokens

// Plans a step and does what the scheduler does with it.
Planned Step(Batcher& batcher) {
  Planned planned;
  for (const BatchItem& item : batcher.Plan()) {
    const bool ends = item.ReachesEnd();
    planned.emplace_back(item.request->id, item.tokens);
    item.request->computed += item.tokens;
    if (ends) item.request->tokens.push_back(2);
  }
  return planned;
}

TEST(Batcher, CutsPromptsAtTheTokenBudgetAndPutsRunningRequestsFirst) {
  Batcher batcher(Options(8, 10, 64));
  batcher.Add(Request(1, 14, 9));
  batcher.Add(Request(2, 3, 9));
  batcher.Add(Request(3, 20, 9));
  EXPECT_EQ(Step(batcher), (Planned{{1, 10}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 4}, {2, 3}, {3, 3}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}, {2, 1}, {3, 8}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}, {2, 1}, {3, 8}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}, {2, 1}, {3, 1}}));
}

TEST(Batcher, SeatsAtMostMaxNumSeqsInOrderOfArrival) {
  Batcher batcher(Options(2, 100, 64));
  for (uint64_t id = 1; id <= 3; ++id) batcher.Add(Request(id, 5, 9));
  EXPECT_EQ(Step(batcher), (Planned{{1, 5}, {2, 5}}));
  EXPECT_EQ(batcher.Waiting(), 1);
  batcher.Remove(1);
  EXPECT_EQ(Step(batcher), (Planned{{2, 1}, {3, 5}}));
}

TEST(Batcher, SetsTheNewestBackWhenBlocksRunOut) {
  Batcher batcher(Options(8, 100, 4));  // 16 positions
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
  Batcher batcher(Options(8, 100, 4));
  batcher.Add(Request(1, 7, 1));
  batcher.Add(Request(2, 8, 8));
  EXPECT_EQ(Step(batcher), (Planned{{1, 7}, {2, 8}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}}));
  EXPECT_EQ(batcher.Running(), 1);
}

TEST(Batcher, ARequestThatWasSetBackComesBeforeThoseThatCameLater) {
  Batcher batcher(Options(2, 100, 4));
  batcher.Add(Request(1, 8, 4));
  batcher.Add(Request(2, 8, 4));
  batcher.Add(Request(3, 4, 4));
  EXPECT_EQ(Step(batcher), (Planned{{1, 8}, {2, 8}}));
  EXPECT_EQ(Step(batcher), (Planned{{1, 1}}));  // 2 is set back
  batcher.Remove(1);
  EXPECT_EQ(Step(batcher), (Planned{{2, 9}, {3, 4}}));
}

TEST(Batcher, AdmitsNobodyPastARequestThatFindsNoBlocks) {
  Batcher batcher(Options(8, 100, 4));
  batcher.Add(Request(1, 9, 1));
  batcher.Add(Request(2, 8, 1));  // two blocks, one is free
  batcher.Add(Request(3, 1, 1));  // would fit
  EXPECT_EQ(Step(batcher), (Planned{{1, 9}}));
}

TEST(Batcher, RemovingGivesAllBlocksBack) {
  Batcher batcher(Options(8, 6, 64));
  for (uint64_t id = 1; id <= 3; ++id) batcher.Add(Request(id, 5, 9));
  Step(batcher);
  for (uint64_t id = 1; id <= 3; ++id) EXPECT_NE(batcher.Remove(id), nullptr);
  EXPECT_EQ(batcher.Remove(1), nullptr);
  EXPECT_EQ(batcher.Pool().Free(), 64);
  EXPECT_TRUE(batcher.Plan().empty());
}

}  // namespace
}  // namespace assay::engine
