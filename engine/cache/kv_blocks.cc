#include "engine/cache/kv_blocks.h"

#include <limits>
#include <utility>

#include "base/check.h"
#include "base/planted_fault.h"

namespace assay::engine {
namespace {

constexpr LayerGroup kBoth[] = {kFullLayers, kSlidingLayers};

// Of a planted fault: the block that was taken last, of how many.
int32_t latest[kLayerGroups] = {-1, -1};
int64_t taken = 0;

}  // namespace

KvBlocks::KvBlocks(const KvBlocksOptions& options)
    : options_(options),
      pools_{BlockPool(options.num_blocks[kFullLayers]), BlockPool(options.num_blocks[kSlidingLayers])},
      tree_(options.hash, options.num_blocks[kFullLayers] + options.num_blocks[kSlidingLayers]) {
  CHECK(Has(kFullLayers) || Has(kSlidingLayers));
  for (const LayerGroup group : kBoth) {
    node_of_[group].assign(static_cast<size_t>(options.num_blocks[group]), nullptr);
  }
}

int64_t KvBlocks::Longest() const {
  int64_t longest = std::numeric_limits<int64_t>::max();
  if (Has(kFullLayers)) longest = pools_[kFullLayers].Total() * options_.block_size;
  const int64_t window_blocks = BlocksFor(options_.window - 1, options_.block_size) + 1;
  if (Has(kSlidingLayers) && pools_[kSlidingLayers].Total() < window_blocks) {
    longest = std::min(longest, pools_[kSlidingLayers].Total() * options_.block_size);
  }
  return longest;
}

std::span<const int32_t> KvBlocks::BlockTokens(std::span<const int32_t> tokens, int64_t block) const {
  return tokens.subspan(static_cast<size_t>(block * options_.block_size),
                        static_cast<size_t>(options_.block_size));
}

// found_: the longest prefix, in blocks and without the last token, that full layers have as a whole and
// sliding layers have as far as the next token sees.
void KvBlocks::FindPrefix(std::span<const int32_t> tokens) {
  found_.clear();
  const int64_t most = (static_cast<int64_t>(tokens.size()) - 1) / options_.block_size;
  int64_t sliding_run = 0, usable = 0;
  PrefixNode* node = nullptr;
  for (int64_t block = 0; block < most; ++block) {
    node = tree_.Find(node, BlockTokens(tokens, block));
    if (node == nullptr || (Has(kFullLayers) && node->blocks[kFullLayers] < 0)) break;
    found_.push_back(node);
    const int64_t end = block + 1;
    sliding_run = node->blocks[kSlidingLayers] < 0 ? 0 : sliding_run + 1;
    const int64_t seen = end - FirstSeen(end * options_.block_size);
    if (!Has(kSlidingLayers) || sliding_run >= seen) usable = end;
  }
  found_.resize(static_cast<size_t>(usable));
}

// What keeps a request that holds found_ from taking the rest of its full blocks and one sliding block.
std::optional<HeldBlocks::Shortage> KvBlocks::ShortageBesidePrefix(int64_t tokens) const {
  const auto found = static_cast<int64_t>(found_.size());
  const auto unheld = [&](LayerGroup group, int64_t first) {
    int64_t count = 0;
    for (int64_t i = first; i < found; ++i) {
      count += pools_[group].Holders(found_[static_cast<size_t>(i)]->blocks[group]) == 0;
    }
    return count;
  };
  if (Has(kFullLayers)) {
    const int64_t needed = BlocksFor(tokens, options_.block_size) - found + unheld(kFullLayers, 0);
    if (needed > pools_[kFullLayers].Free()) return HeldBlocks::Shortage{kFullLayers, needed};
  }
  if (Has(kSlidingLayers)) {
    const int64_t needed = unheld(kSlidingLayers, FirstSeen(found * options_.block_size)) + 1;
    if (needed > pools_[kSlidingLayers].Free()) return HeldBlocks::Shortage{kSlidingLayers, needed};
  }
  return std::nullopt;
}

std::optional<int64_t> KvBlocks::Begin(std::span<const int32_t> tokens, bool use_prefix_cache,
                                       HeldBlocks& held) {
  const auto length = static_cast<int64_t>(tokens.size());
  if (pools_[held.shortage.group].Free() < held.shortage.needed) return std::nullopt;
  found_.clear();
  if (use_prefix_cache && options_.prefix_cache) FindPrefix(tokens);
  if (const auto shortage = ShortageBesidePrefix(length)) {
    held.shortage = *shortage;
    return std::nullopt;
  }

  const auto found = static_cast<int64_t>(found_.size());
  if (Has(kFullLayers)) {
    std::vector<int32_t>& table = held.tables[kFullLayers];
    table.reserve(static_cast<size_t>(BlocksFor(length, options_.block_size)));
    for (const PrefixNode* node : found_) table.push_back(node->blocks[kFullLayers]);
    for (const int32_t block : table) pools_[kFullLayers].Share(block);
  }
  if (Has(kSlidingLayers)) {
    held.given_back = FirstSeen(found * options_.block_size);
    held.tables[kSlidingLayers].assign(static_cast<size_t>(held.given_back), -1);
    for (int64_t i = held.given_back; i < found; ++i) {
      const int32_t block = found_[static_cast<size_t>(i)]->blocks[kSlidingLayers];
      pools_[kSlidingLayers].Share(block);
      held.tables[kSlidingLayers].push_back(block);
    }
  }
  held.known = found;
  held.last = found_.empty() ? nullptr : found_.back();
  tree_.Keep(held.last);
  while (Has(kFullLayers) &&
         static_cast<int64_t>(held.tables[kFullLayers].size()) < BlocksFor(length, options_.block_size)) {
    held.tables[kFullLayers].push_back(Take(kFullLayers));
  }
  return found * options_.block_size;
}

int64_t KvBlocks::Reserve(int64_t computed, int64_t wanted, HeldBlocks& held) {
  int64_t end = computed + wanted;
  for (const LayerGroup group : kBoth) {
    if (!Has(group)) continue;
    const int64_t blocks = static_cast<int64_t>(held.tables[group].size()) + pools_[group].Free();
    end = std::min(end, blocks * options_.block_size);
  }
  if (end <= computed) return 0;
  for (const LayerGroup group : kBoth) {
    if (!Has(group)) continue;
    const int64_t blocks = BlocksFor(end, options_.block_size);
    while (static_cast<int64_t>(held.tables[group].size()) < blocks) {
      held.tables[group].push_back(Take(group));
    }
  }
  return end - computed;
}

void KvBlocks::Advance(std::span<const int32_t> tokens, int64_t computed, bool use_prefix_cache,
                       HeldBlocks& held) {
  const bool remember = use_prefix_cache && options_.prefix_cache;
  for (; remember && (held.known + 1) * options_.block_size <= computed; ++held.known) {
    PrefixNode* node = tree_.FindOrAdd(held.last, BlockTokens(tokens, held.known));
    for (const LayerGroup group : kBoth) {
      if (!Has(group) || node->blocks[group] >= 0) continue;  // another request's block has the same content
      const int32_t block = held.tables[group][static_cast<size_t>(held.known)];
      CHECK_GE(block, 0);
      node->blocks[group] = block;
      node_of_[group][static_cast<size_t>(block)] = node;
    }
    tree_.Keep(node);
    tree_.LetGo(held.last);
    held.last = node;
  }
  if (!Has(kSlidingLayers)) return;
  for (const int64_t seen = FirstSeen(computed); held.given_back < seen; ++held.given_back) {
    int32_t& block = held.tables[kSlidingLayers][static_cast<size_t>(held.given_back)];
    Release(kSlidingLayers, block);
    block = -1;
  }
}

// The last blocks first: they are used for others before what leads to them.
void KvBlocks::GiveBack(HeldBlocks& held) {
  for (const LayerGroup group : kBoth) {
    std::vector<int32_t>& table = held.tables[group];
    for (; !table.empty(); table.pop_back()) {
      if (table.back() >= 0) Release(group, table.back());
    }
  }
  tree_.LetGo(held.last);
  held = HeldBlocks{};
}

int32_t KvBlocks::Take(LayerGroup group) {
  if (Planted(Fault::kKvReuse) && latest[group] >= 0 && ++taken % PlantedNumber() == 0) {
    pools_[group].Share(latest[group]);  // as if its holder had given it back
    return latest[group];
  }
  const int32_t block = pools_[group].Take();
  PrefixNode*& node = node_of_[group][static_cast<size_t>(block)];
  if (node != nullptr) tree_.Forget(std::exchange(node, nullptr), group);
  if (Planted(Fault::kKvReuse)) latest[group] = block;
  return block;
}

void KvBlocks::Release(LayerGroup group, int32_t block) {
  pools_[group].Release(block, node_of_[group][static_cast<size_t>(block)] != nullptr);
}

void KvBlocks::ForgetPrefixes() {
  for (const LayerGroup group : kBoth) {
    CHECK_EQ(pools_[group].Free(), pools_[group].Total());
    pools_[group] = BlockPool(pools_[group].Total());
    node_of_[group].assign(node_of_[group].size(), nullptr);
  }
  tree_.Clear();
}

const BlockPool& KvBlocks::Scarcest() const {
  const BlockPool &full = pools_[kFullLayers], &sliding = pools_[kSlidingLayers];
  if (!Has(kFullLayers)) return sliding;
  // free / total of the sliding blocks against that of the full ones
  return Has(kSlidingLayers) && sliding.Free() * full.Total() < full.Free() * sliding.Total() ? sliding
                                                                                              : full;
}

void KvBlocks::CheckOwners(std::span<const HeldBlocks* const> all) const {
  for (const LayerGroup group : kBoth) {
    std::vector<int64_t> holders(static_cast<size_t>(pools_[group].Total()), 0);
    for (const HeldBlocks* held : all) {
      for (const int32_t block : held->tables[group]) {
        if (block >= 0) ++holders[static_cast<size_t>(block)];
      }
    }
    int64_t free = 0;
    for (size_t i = 0; i < holders.size(); ++i) {
      const auto block = static_cast<int32_t>(i);
      CHECK_EQ(holders[i], pools_[group].Holders(block));
      free += holders[i] == 0;
      if (node_of_[group][i] != nullptr) CHECK_EQ(node_of_[group][i]->blocks[group], block);
    }
    CHECK_EQ(free, pools_[group].Free());
  }
}

}  // namespace assay::engine
