#include "engine/cache/block_pool.h"

#include "base/check.h"

namespace assay::engine {

BlockPool::BlockPool(int64_t num_blocks) : holders_(static_cast<size_t>(num_blocks), 0) {
  CHECK_GE(num_blocks, 0);
  const auto end = static_cast<int32_t>(num_blocks);
  next_.assign(holders_.size() + 1, end);
  previous_ = next_;
  for (int32_t block = 0; block < end; ++block) Link(block, end);
}

int32_t BlockPool::Take() {
  CHECK_GT(free_, 0);
  const int32_t block = next_.back();
  Unlink(block);
  holders_[Index(block)] = 1;
  return block;
}

void BlockPool::Share(int32_t block) {
  if (holders_[Index(block)]++ == 0) Unlink(block);
}

void BlockPool::Release(int32_t block, bool keep) {
  CHECK_GT(holders_[Index(block)], 0);
  if (--holders_[Index(block)] > 0) return;
  Link(block, keep ? static_cast<int32_t>(Total()) : next_.back());
}

size_t BlockPool::Index(int32_t block) const {
  CHECK(block >= 0 && block < Total());
  return static_cast<size_t>(block);
}

void BlockPool::Link(int32_t block, int32_t before) {
  const auto at = static_cast<size_t>(block), after = static_cast<size_t>(before);
  next_[at] = before;
  previous_[at] = previous_[after];
  next_[static_cast<size_t>(previous_[after])] = block;
  previous_[after] = block;
  ++free_;
}

void BlockPool::Unlink(int32_t block) {
  const auto at = static_cast<size_t>(block);
  next_[static_cast<size_t>(previous_[at])] = next_[at];
  previous_[static_cast<size_t>(next_[at])] = previous_[at];
  --free_;
}

int64_t BlocksFor(int64_t tokens, int64_t block_size) {
  return (tokens + block_size - 1) / block_size;
}

}  // namespace assay::engine
