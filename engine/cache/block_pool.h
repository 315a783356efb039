#pragma once

#include <cstdint>
#include <vector>

namespace assay::engine {

// Which KV blocks are free. Freeing a block that is not held, or one that does not exist, is a CHECK: a block
// with two owners would give two requests each other's keys.
class BlockPool {
 public:
  explicit BlockPool(int64_t num_blocks);

  int64_t Total() const { return static_cast<int64_t>(held_.size()); }
  int64_t Free() const { return static_cast<int64_t>(free_.size()); }

  // Appends `count` blocks to `table`, or changes nothing and returns false when fewer are free.
  bool Take(int64_t count, std::vector<int32_t>& table);
  // Gives all blocks of `table` back and empties it.
  void Give(std::vector<int32_t>& table);

 private:
  std::vector<int32_t> free_;  // the last one is taken next
  std::vector<bool> held_;     // [num_blocks]
};

// Lets `table` hold `tokens` positions; false (and nothing changed) when the pool is short.
bool GrowTable(BlockPool& pool, int64_t block_size, int64_t tokens, std::vector<int32_t>& table);

int64_t BlocksFor(int64_t tokens, int64_t block_size);

}  // namespace assay::engine
