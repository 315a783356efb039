#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_set>
#include <vector>

#include "engine/cache/cache_groups.h"

namespace assay::engine {

// One block of tokens after all those of its parents, and the KV blocks that hold it, -1 where a group has
// none.
struct PrefixNode {
  PrefixNode* parent = nullptr;  // null: the first block of a sequence
  std::vector<int32_t> tokens;   // [block_size]
  std::array<int32_t, kLayerGroups> blocks{-1, -1};
  int64_t uses = 0;  // children, and requests that go on from here
};

// Which prefixes are cached. A node is found by its parent and its token ids, which are compared and not only
// hashed, so that two prefixes are never taken for one. A node goes when it has no block and no use.
class PrefixTree {
 public:
  using Hash = uint64_t (*)(const PrefixNode* parent, std::span<const int32_t> tokens);
  static uint64_t HashOf(const PrefixNode* parent, std::span<const int32_t> tokens);

  // Room for `expected` nodes is made at once, so that no step stops for it.
  explicit PrefixTree(Hash hash = HashOf, int64_t expected = 0)
      : nodes_(static_cast<size_t>(expected), Hasher{hash}) {}

  PrefixNode* Find(PrefixNode* parent, std::span<const int32_t> tokens) const;
  PrefixNode* FindOrAdd(PrefixNode* parent, std::span<const int32_t> tokens);
  // Null is nobody's, and neither kept nor let go.
  void Keep(PrefixNode* node);
  void LetGo(PrefixNode* node);
  // The group's block of the node has other content from now.
  void Forget(PrefixNode* node, LayerGroup group);
  void Clear() { nodes_.clear(); }
  size_t Size() const { return nodes_.size(); }

 private:
  struct Key {
    const PrefixNode* parent;
    std::span<const int32_t> tokens;
  };
  using Node = std::unique_ptr<PrefixNode>;
  static Key KeyOf(const Node& node) { return {node->parent, node->tokens}; }
  static Key KeyOf(const Key& key) { return key; }
  struct Hasher {
    using is_transparent = void;
    Hash hash;
    size_t operator()(const auto& x) const { return hash(KeyOf(x).parent, KeyOf(x).tokens); }
  };
  struct Same {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const {
      const Key x = KeyOf(a), y = KeyOf(b);
      return x.parent == y.parent &&
             std::equal(x.tokens.begin(), x.tokens.end(), y.tokens.begin(), y.tokens.end());
    }
  };
  void RemoveUnused(PrefixNode* node);

  std::unordered_set<Node, Hasher, Same> nodes_;
};

}  // namespace assay::engine
