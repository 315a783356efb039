#include "engine/cache/prefix_tree.h"

#include <gtest/gtest.h>

namespace assay::engine {
namespace {

using Tokens = std::vector<int32_t>;

uint64_t AllAlike(const PrefixNode*, std::span<const int32_t>) {
  return 7;
}

TEST(PrefixTree, FindsABlockBehindItsOwnPrefixOnly) {
  PrefixTree tree;
  PrefixNode* a = tree.FindOrAdd(nullptr, Tokens{1, 2});
  PrefixNode* ab = tree.FindOrAdd(a, Tokens{3, 4});
  EXPECT_EQ(tree.Find(nullptr, Tokens{1, 2}), a);
  EXPECT_EQ(tree.Find(a, Tokens{3, 4}), ab);
  EXPECT_EQ(tree.Find(nullptr, Tokens{3, 4}), nullptr);
  EXPECT_EQ(tree.Find(ab, Tokens{3, 4}), nullptr);
  EXPECT_EQ(tree.Find(a, Tokens{3, 5}), nullptr);
  EXPECT_EQ(tree.FindOrAdd(a, Tokens{3, 4}), ab);
}

TEST(PrefixTree, TellsPrefixesApartThatHashAlike) {
  PrefixTree tree(AllAlike);
  std::vector<PrefixNode*> nodes;
  for (int32_t i = 0; i < 50; ++i)
    nodes.push_back(tree.FindOrAdd(i % 2 == 0 ? nullptr : nodes[0], Tokens{i, 0}));
  for (int32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(tree.Find(i % 2 == 0 ? nullptr : nodes[0], Tokens{i, 0}), nodes[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(tree.Find(nullptr, Tokens{1, 0}), nullptr);
}

TEST(PrefixTree, ANodeGoesWithItsLastBlockAndUse) {
  PrefixTree tree;
  PrefixNode* a = tree.FindOrAdd(nullptr, Tokens{1});
  a->blocks = {0, 5};
  PrefixNode* b = tree.FindOrAdd(a, Tokens{2});
  b->blocks[kFullLayers] = 1;
  tree.Keep(b);
  tree.Forget(a, kFullLayers);
  tree.Forget(a, kSlidingLayers);
  EXPECT_EQ(tree.Size(), 2u) << "its child is still there";
  tree.Forget(b, kFullLayers);
  EXPECT_EQ(tree.Size(), 2u) << "a request goes on from here";
  tree.LetGo(b);
  EXPECT_EQ(tree.Size(), 0u) << "and its parent was there for its sake only";
}

}  // namespace
}  // namespace assay::engine
