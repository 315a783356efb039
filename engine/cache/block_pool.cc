#include "engine/cache/block_pool.h"

#include "base/check.h"

namespace assay::engine {

BlockPool::BlockPool(int64_t num_blocks) : held_(static_cast<size_t>(num_blocks), false) {
  CHECK_GT(num_blocks, 0);
  free_.reserve(held_.size());
  for (int64_t block = num_blocks - 1; block >= 0; --block) free_.push_back(static_cast<int32_t>(block));
}

bool BlockPool::Take(int64_t count, std::vector<int32_t>& table) {
  if (count > Free()) return false;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t block = free_.back();
    free_.pop_back();
    held_[static_cast<size_t>(block)] = true;
    table.push_back(block);
  }
  return true;
}

void BlockPool::Give(std::vector<int32_t>& table) {
  for (const int32_t block : table) {
    CHECK(block >= 0 && block < Total());
    CHECK(held_[static_cast<size_t>(block)]);
    held_[static_cast<size_t>(block)] = false;
    free_.push_back(block);
  }
  table.clear();
}

bool GrowTable(BlockPool& pool, int64_t block_size, int64_t tokens, std::vector<int32_t>& table) {
  const int64_t missing = BlocksFor(tokens, block_size) - static_cast<int64_t>(table.size());
  return missing <= 0 || pool.Take(missing, table);
}

int64_t BlocksFor(int64_t tokens, int64_t block_size) {
  return (tokens + block_size - 1) / block_size;
}

}  // namespace assay::engine
