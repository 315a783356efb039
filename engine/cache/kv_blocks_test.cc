#include "engine/cache/kv_blocks.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>

namespace assay::engine {
namespace {

using Tokens = std::vector<int32_t>;

Tokens Count(int32_t from, int64_t count) {
  Tokens tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(from + static_cast<int32_t>(i));
  return tokens;
}

KvBlocksOptions Options(int64_t full, int64_t sliding, int64_t window = 9) {
  KvBlocksOptions options;
  options.block_size = 4;
  options.num_blocks = {full, sliding};
  options.window = window;
  return options;
}

// Computes all of `tokens` at once and returns how many were there already.
int64_t Compute(KvBlocks& blocks, const Tokens& tokens, HeldBlocks& held, bool use_prefix_cache = true) {
  const auto found = blocks.Begin(tokens, use_prefix_cache, held);
  EXPECT_TRUE(found);
  const auto length = static_cast<int64_t>(tokens.size());
  EXPECT_EQ(blocks.Reserve(*found, length - *found, held), length - *found);
  blocks.Advance(tokens, length, use_prefix_cache, held);
  return *found;
}

int64_t ComputeOnce(KvBlocks& blocks, const Tokens& tokens, bool use_prefix_cache = true) {
  HeldBlocks held;
  const int64_t found = Compute(blocks, tokens, held, use_prefix_cache);
  blocks.GiveBack(held);
  return found;
}

TEST(KvBlocks, SlidingLayersHoldTheWindowAndNoMore) {
  // Window 9, blocks of 4: position 20 sees 12..20, which are blocks 3, 4 and 5.
  KvBlocks blocks(Options(16, 16));
  const Tokens tokens = Count(0, 20);
  HeldBlocks held;
  Compute(blocks, tokens, held);
  EXPECT_EQ(held.tables[kFullLayers].size(), 5u);
  const std::vector<int32_t>& sliding = held.tables[kSlidingLayers];
  ASSERT_EQ(sliding.size(), 5u);
  EXPECT_EQ(std::count(sliding.begin(), sliding.end(), -1), 3);
  EXPECT_GE(sliding[3], 0);
  blocks.GiveBack(held);
  EXPECT_EQ(blocks.Free(), 16);
}

TEST(KvBlocks, AChunkNeedsTheWindowAndItself) {
  // Five sliding blocks: with 8 of the last 9 positions seen (2 blocks), 3 more blocks are 12 positions.
  KvBlocks blocks(Options(32, 5));
  const Tokens tokens = Count(0, 100);
  HeldBlocks held;
  ASSERT_EQ(blocks.Begin(tokens, true, held), 0);
  int64_t computed = 0;
  std::vector<int64_t> chunks;
  while (computed < 100) {
    const int64_t chunk = blocks.Reserve(computed, 100 - computed, held);
    ASSERT_GT(chunk, 0);
    chunks.push_back(chunk);
    blocks.Advance(tokens, computed += chunk, true, held);
  }
  EXPECT_EQ(chunks, (std::vector<int64_t>{20, 12, 12, 12, 12, 12, 12, 8}));
  blocks.GiveBack(held);
}

TEST(KvBlocks, KnowsWhatFits) {
  EXPECT_EQ(KvBlocks(Options(4, 4)).Longest(), 16);
  EXPECT_EQ(KvBlocks(Options(100, 3)).Longest(), 400) << "window of 9: two whole blocks and the next";
  EXPECT_EQ(KvBlocks(Options(100, 2)).Longest(), 8);
  EXPECT_EQ(KvBlocks(Options(0, 3)).Longest(), std::numeric_limits<int64_t>::max()) << "sliding layers only";
  EXPECT_EQ(KvBlocks(Options(4, 0)).Longest(), 16) << "full layers only";
}

TEST(KvBlocks, FindsWholeBlocksOfAPrefixAndNeverTheLastToken) {
  const struct {
    const char* name;
    Tokens second;
    int64_t found;
  } rows[] = {{"the same", Count(0, 16), 12},
              {"one more", Count(0, 17), 16},
              {"much more", Count(0, 40), 16},
              {"parts in the fourth block",
               [] {
                 Tokens t = Count(0, 17);
                 t[13] = 99;
                 return t;
               }(),
               12},
              {"parts in the first block",
               [] {
                 Tokens t = Count(0, 17);
                 t[3] = 99;
                 return t;
               }(),
               0},
              {"shifted by one", Count(1, 16), 0},
              {"shorter than a block", Count(0, 3), 0},
              {"one token", Count(0, 1), 0}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    // Full layers alone: every whole block is found.
    KvBlocks blocks(Options(32, 0));
    ComputeOnce(blocks, Count(0, 16));
    EXPECT_EQ(ComputeOnce(blocks, row.second), row.found);
    EXPECT_EQ(ComputeOnce(blocks, row.second, false), 0);
  }
}

TEST(KvBlocks, APrefixNeedsOnlyItsLastWindowOfTheSlidingLayers) {
  // 40 tokens; 5 sliding blocks are too few to keep all 10, but the last ones are there.
  KvBlocks blocks(Options(64, 5));
  const Tokens tokens = Count(0, 40);
  {
    HeldBlocks held;
    ASSERT_EQ(blocks.Begin(tokens, true, held), 0);
    for (int64_t computed = 0; computed < 40;) {
      computed += blocks.Reserve(computed, 4, held);
      blocks.Advance(tokens, computed, true, held);
    }
    blocks.GiveBack(held);
  }
  Tokens longer = tokens;
  longer.push_back(7);
  HeldBlocks held;
  ASSERT_EQ(blocks.Begin(longer, true, held), 40);
  const std::vector<int32_t>& sliding = held.tables[kSlidingLayers];
  EXPECT_EQ(std::count(sliding.begin(), sliding.end(), -1), 8);  // position 40 sees 32..40
  blocks.GiveBack(held);
  // Of a prefix that ends further in front full layers have all, sliding layers nothing any more.
  EXPECT_EQ(ComputeOnce(blocks, Count(0, 13)), 0);
}

TEST(KvBlocks, UsesTheLeastRecentlyUsedPrefixForOthers) {
  KvBlocks blocks(Options(8, 0));
  ComputeOnce(blocks, Count(100, 12));
  ComputeOnce(blocks, Count(200, 12));
  ComputeOnce(blocks, Count(100, 13));  // used again, and one block more
  ComputeOnce(blocks, Count(300, 8));   // the oldest: those of 200
  EXPECT_EQ(ComputeOnce(blocks, Count(100, 13)), 12);
  EXPECT_LT(ComputeOnce(blocks, Count(200, 13)), 12);
}

TEST(KvBlocks, ForgetsPrefixes) {
  KvBlocks blocks(Options(16, 16));
  ComputeOnce(blocks, Count(0, 16));
  EXPECT_GT(blocks.CachedPrefixes(), 0u);
  blocks.ForgetPrefixes();
  EXPECT_EQ(blocks.CachedPrefixes(), 0u);
  EXPECT_EQ(ComputeOnce(blocks, Count(0, 16)), 0);
}

TEST(KvBlocks, RemembersNothingWhenSwitchedOff) {
  KvBlocksOptions options = Options(16, 16);
  options.prefix_cache = false;
  KvBlocks blocks(options);
  ComputeOnce(blocks, Count(0, 16));
  EXPECT_EQ(ComputeOnce(blocks, Count(0, 16)), 0);
  EXPECT_EQ(blocks.CachedPrefixes(), 0u);
}

TEST(KvBlocks, FreeIsThatOfTheScarcerGroup) {
  KvBlocks blocks(Options(16, 8));
  EXPECT_EQ(blocks.Free(), blocks.Total());
  HeldBlocks held;
  Compute(blocks, Count(0, 8), held);  // 2 of 16, 2 of 8
  EXPECT_EQ(blocks.Total(), 8);
  EXPECT_EQ(blocks.Free(), 6);
  blocks.GiveBack(held);
}

uint64_t AllAlike(const PrefixNode*, std::span<const int32_t>) {
  return 0;
}

// What a block would hold: the token at each of its slots, and the number of tokens before the block.
struct Written {
  Tokens slots;
  int64_t begin = -1;
};

// Many sequences with common prefixes live and end at random in a pool that is too small for all. Each writes
// what it computes; what it is told is there must be what it would have written.
TEST(KvBlocks, GivesNoSequenceTheContentOfAnother) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
    KvBlocksOptions options = Options(6 + below(30), 6 + below(30), 2 + below(14));
    if (seed % 5 == 0) options.num_blocks[kFullLayers] = 0;
    if (seed % 5 == 1) options.num_blocks[kSlidingLayers] = 0;
    if (seed % 3 == 0) options.hash = AllAlike;
    KvBlocks blocks(options);
    struct Live {
      Tokens tokens;
      int64_t computed = 0;
      bool cached = true;
      HeldBlocks held;
    };
    std::vector<std::unique_ptr<Live>> live;
    std::array<std::vector<Written>, kLayerGroups> memory;
    for (const LayerGroup group : {kFullLayers, kSlidingLayers}) {
      memory[group].resize(static_cast<size_t>(options.num_blocks[group]));
    }
    const auto expect_seen = [&](const Live& l) {
      for (const LayerGroup group : {kFullLayers, kSlidingLayers}) {
        if (options.num_blocks[group] == 0) continue;
        const int64_t first = group == kFullLayers ? 0 : WindowBegin(l.computed, options.window);
        for (int64_t p = first; p < l.computed; ++p) {
          const int32_t block = l.held.tables[group][static_cast<size_t>(p / 4)];
          ASSERT_GE(block, 0);
          const Written& written = memory[group][static_cast<size_t>(block)];
          ASSERT_EQ(written.begin, p / 4 * 4);
          ASSERT_EQ(written.slots[static_cast<size_t>(p % 4)], l.tokens[static_cast<size_t>(p)]);
        }
      }
    };
    int64_t hits = 0;
    for (int step = 0; step < 400; ++step) {
      if (below(3) == 0) {
        auto fresh = std::make_unique<Live>();
        for (int64_t n = 1 + below(23); n > 0; --n) fresh->tokens.push_back(static_cast<int32_t>(below(2)));
        fresh->cached = below(6) > 0;
        if (static_cast<int64_t>(fresh->tokens.size()) + 8 > blocks.Longest()) continue;
        const auto found = blocks.Begin(fresh->tokens, fresh->cached, fresh->held);
        if (found) {
          hits += fresh->computed = *found;
          expect_seen(*fresh);
          live.push_back(std::move(fresh));
        }
      } else if (!live.empty()) {
        const auto at = live.begin() + below(static_cast<uint32_t>(live.size()));
        Live& l = **at;
        if (below(8) == 0) {
          blocks.GiveBack(l.held);
          live.erase(at);
          continue;
        }
        if (l.computed == static_cast<int64_t>(l.tokens.size()))
          l.tokens.push_back(static_cast<int32_t>(below(2)));
        const int64_t count = blocks.Reserve(
            l.computed, std::min<int64_t>(static_cast<int64_t>(l.tokens.size()) - l.computed, 1 + below(9)),
            l.held);
        for (int64_t p = l.computed; p < l.computed + count; ++p) {
          for (const LayerGroup group : {kFullLayers, kSlidingLayers}) {
            if (options.num_blocks[group] == 0) continue;
            Written& to =
                memory[group][static_cast<size_t>(l.held.tables[group][static_cast<size_t>(p / 4)])];
            to.slots.resize(4);
            to.slots[static_cast<size_t>(p % 4)] = l.tokens[static_cast<size_t>(p)];
            to.begin = p / 4 * 4;
          }
        }
        blocks.Advance(l.tokens, l.computed += count, l.cached, l.held);
      }
      std::vector<const HeldBlocks*> all;
      for (const auto& l : live) {
        all.push_back(&l->held);
        expect_seen(*l);
        if (HasFatalFailure()) return;
      }
      blocks.CheckOwners(all);
    }
    EXPECT_GT(hits, 0) << "seed " << seed;
    for (const auto& l : live) blocks.GiveBack(l->held);
    EXPECT_EQ(blocks.Free(), blocks.Total());
    blocks.ForgetPrefixes();
  }
}

}  // namespace
}  // namespace assay::engine
