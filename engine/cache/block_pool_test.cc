#include "engine/cache/block_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::engine {
namespace {

TEST(BlockPool, HandsOutEachBlockOnce) {
  BlockPool pool(8);
  std::set<int32_t> taken;
  while (pool.Free() > 0) taken.insert(pool.Take());
  EXPECT_EQ(taken, (std::set<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(BlockPool, UsesABlockWithoutContentAgainAtOnce) {
  BlockPool pool(8);
  const int32_t first = pool.Take();
  pool.Release(first, false);
  EXPECT_EQ(pool.Take(), first);  // few blocks are ever touched
}

TEST(BlockPool, UsesBlocksWithContentLastAndTheOldestOfThemFirst) {
  BlockPool pool(4);
  for (int i = 0; i < 4; ++i) pool.Take();
  for (const int32_t block : {2, 0, 3}) pool.Release(block, true);
  pool.Release(1, false);
  pool.Share(0);  // found again, and given back
  pool.Release(0, true);
  std::vector<int32_t> order;
  while (pool.Free() > 0) order.push_back(pool.Take());
  EXPECT_EQ(order, (std::vector<int32_t>{1, 2, 3, 0}));
}

TEST(BlockPool, ASharedBlockIsFreeWhenItsLastHolderLeaves) {
  BlockPool pool(2);
  const int32_t block = pool.Take();
  pool.Share(block);
  EXPECT_EQ(pool.Holders(block), 2);
  pool.Release(block, true);
  EXPECT_EQ(pool.Free(), 1);
  pool.Release(block, true);
  EXPECT_EQ(pool.Free(), 2);
  pool.Share(block);
  EXPECT_EQ(pool.Free(), 1);
}

TEST(BlockPoolDeathTest, NoticesABlockFreedTwiceAndOneThatIsNot) {
  BlockPool pool(4);
  const int32_t block = pool.Take();
  pool.Release(block, false);
  EXPECT_DEATH(pool.Release(block, false), "check failed");
  EXPECT_DEATH(pool.Share(4), "check failed");
  EXPECT_DEATH(pool.Share(-1), "check failed");
}

}  // namespace
}  // namespace assay::engine
