#include "engine/cache/block_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace assay::engine {
namespace {

TEST(BlockPool, HandsOutEachBlockOnce) {
  BlockPool pool(8);
  std::vector<int32_t> first, second;
  ASSERT_TRUE(pool.Take(5, first));
  ASSERT_TRUE(pool.Take(3, second));
  std::set<int32_t> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  EXPECT_EQ(all, (std::set<int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(pool.Free(), 0);
}

TEST(BlockPool, RefusesMoreThanIsFreeAndChangesNothing) {
  BlockPool pool(4);
  std::vector<int32_t> table;
  ASSERT_TRUE(pool.Take(3, table));
  EXPECT_FALSE(pool.Take(2, table));
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(pool.Free(), 1);
}

TEST(BlockPool, TakesBlocksBack) {
  BlockPool pool(4);
  std::vector<int32_t> table;
  ASSERT_TRUE(pool.Take(4, table));
  pool.Give(table);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(pool.Free(), 4);
  EXPECT_EQ(pool.Total(), 4);
}

TEST(BlockPoolDeathTest, NoticesABlockFreedTwice) {
  BlockPool pool(4);
  std::vector<int32_t> table;
  ASSERT_TRUE(pool.Take(1, table));
  std::vector<int32_t> twice{table[0], table[0]};
  EXPECT_DEATH(pool.Give(twice), "check failed");
}

TEST(GrowTable, AddsABlockOnlyWhenATokenNeedsIt) {
  const struct {
    const char* name;
    int64_t tokens;
    size_t blocks;
  } rows[] = {{"first token", 1, 1}, {"block full", 16, 1}, {"one beyond", 17, 2}, {"shrinks never", 3, 2}};
  BlockPool pool(4);
  std::vector<int32_t> table;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(GrowTable(pool, 16, row.tokens, table));
    EXPECT_EQ(table.size(), row.blocks);
  }
}

}  // namespace
}  // namespace assay::engine
