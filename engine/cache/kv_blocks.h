#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/cache/block_pool.h"
#include "engine/cache/prefix_tree.h"

namespace assay::engine {

struct KvBlocksOptions {
  int64_t block_size = 16;
  std::array<int64_t, kLayerGroups> num_blocks{};  // 0: the model has no such layers
  int64_t window = 128;                            // of the sliding layers
  bool prefix_cache = true;
  PrefixTree::Hash hash = PrefixTree::HashOf;
};

// The blocks that one request holds, or what it waits for.
struct HeldBlocks {
  struct Shortage {
    LayerGroup group = kFullLayers;
    int64_t needed = 0;  // free blocks
  };

  std::array<std::vector<int32_t>, kLayerGroups> tables;  // by block of positions; -1: given back
  int64_t given_back = 0;                                 // leading entries of the sliding table that are -1
  int64_t known = 0;                                      // leading blocks of positions that have a node
  PrefixNode* last = nullptr;                             // the node of the last of them
  Shortage shortage;                                      // found when it last tried to begin
};

// Who holds which KV blocks, and what can be found again in them. A request gets the blocks of the full
// layers for all tokens that it has when it begins; those of the sliding layers as it is computed, and it
// gives them back as soon as no later position sees them. Blocks that are whole and computed stay findable by
// the tokens that led to them until they are used for others.
class KvBlocks {
 public:
  explicit KvBlocks(const KvBlocksOptions& options);

  // Tokens of the longest sequence that fits when nobody else holds anything.
  int64_t Longest() const;
  // Lets a request with these tokens begin, and says how many of them are computed already: at most all but
  // the last. Nothing when blocks are short; it is not looked up again before as many are free as it needed.
  std::optional<int64_t> Begin(std::span<const int32_t> tokens, bool use_prefix_cache, HeldBlocks& held);
  // Blocks for as many of the `wanted` positions from `computed` on as can be had now; returns how many.
  int64_t Reserve(int64_t computed, int64_t wanted, HeldBlocks& held);
  // The first `computed` of `tokens` are computed.
  void Advance(std::span<const int32_t> tokens, int64_t computed, bool use_prefix_cache, HeldBlocks& held);
  void GiveBack(HeldBlocks& held);
  // Forgets all prefixes; nobody may hold a block.
  void ForgetPrefixes();

  // Of the group that has the smallest share of its blocks free.
  int64_t Free() const { return Scarcest().Free(); }
  int64_t Total() const { return Scarcest().Total(); }
  size_t CachedPrefixes() const { return tree_.Size(); }

  // CHECKs that each block is held as often as `all` requests name it, and that whatever can be found is what
  // it is found as. For tests.
  void CheckOwners(std::span<const HeldBlocks* const> all) const;

 private:
  bool Has(LayerGroup group) const { return options_.num_blocks[group] > 0; }
  const BlockPool& Scarcest() const;
  // First block of positions of the sliding layers that a query at `position` sees.
  int64_t FirstSeen(int64_t position) const {
    return WindowBegin(position, options_.window) / options_.block_size;
  }
  std::span<const int32_t> BlockTokens(std::span<const int32_t> tokens, int64_t block) const;
  void FindPrefix(std::span<const int32_t> tokens);
  std::optional<HeldBlocks::Shortage> ShortageBesidePrefix(int64_t tokens) const;
  int32_t Take(LayerGroup group);
  void Release(LayerGroup group, int32_t block);

  KvBlocksOptions options_;
  std::array<BlockPool, kLayerGroups> pools_;
  std::array<std::vector<PrefixNode*>, kLayerGroups> node_of_;  // [num_blocks] null: not findable
  PrefixTree tree_;
  std::vector<PrefixNode*> found_;  // the nodes of the prefix that FindPrefix has found
};

}  // namespace assay::engine
