#pragma once

#include <cstdint>
#include <vector>

namespace assay::tokenizer {

// (left id, right id) -> merge. Open addressing, because this lookup is most of the time of encoding.
class PairTable {
 public:
  struct Merge {
    int32_t rank = -1;
    int32_t id = -1;
  };

  // Room for `count` pairs.
  void Reserve(size_t count) {
    size_t slots = 16;
    while (slots < 2 * count) slots *= 2;
    slots_.assign(slots, {});
  }

  void Set(int32_t left, int32_t right, Merge merge) {
    slots_[Slot(Key(left, right))] = {Key(left, right), merge};
  }

  // The merge of a pair, or null.
  const Merge* Find(int32_t left, int32_t right) const {
    const Entry& entry = slots_[Slot(Key(left, right))];
    return entry.merge.rank < 0 ? nullptr : &entry.merge;
  }

 private:
  struct Entry {
    uint64_t key = 0;
    Merge merge;
  };

  static uint64_t Key(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }

  // Of the key, or the free one where it would go.
  size_t Slot(uint64_t key) const {
    uint64_t mixed = key * 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio
    mixed ^= mixed >> 32;
    for (size_t slot = mixed;; ++slot) {
      const Entry& entry = slots_[slot & (slots_.size() - 1)];
      if (entry.merge.rank < 0 || entry.key == key) return slot & (slots_.size() - 1);
    }
  }

  std::vector<Entry> slots_;
};

}  // namespace assay::tokenizer
