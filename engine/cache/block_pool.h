#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay::engine {

// The KV blocks of one layer group: how many requests hold each, and in which order free ones are used again.
// A free block may still have content worth finding again: such are used last, longest unused first. Giving
// back a block that nobody holds is a CHECK: a block with two owners would give two requests each other's
// keys.
class BlockPool {
 public:
  explicit BlockPool(int64_t num_blocks);

  int64_t Total() const { return static_cast<int64_t>(holders_.size()); }
  int64_t Free() const { return free_; }
  int64_t Holders(int32_t block) const { return holders_[Index(block)]; }

  // A free block, held once from now; there must be one.
  int32_t Take();
  // One more holder, of a held block or of a free one whose content is wanted again.
  void Share(int32_t block);
  // One holder less. When it was the last and `keep` is false, the block is the next to be used.
  void Release(int32_t block, bool keep);

 private:
  size_t Index(int32_t block) const;
  void Link(int32_t block, int32_t before);
  void Unlink(int32_t block);

  int64_t free_ = 0;
  std::vector<int32_t> holders_;  // [num_blocks]
  // The free blocks, in a ring through kEnd = num_blocks: what follows the end is used next.
  std::vector<int32_t> next_, previous_;  // [num_blocks + 1]
};

int64_t BlocksFor(int64_t tokens, int64_t block_size);

}  // namespace assay::engine
