#include "engine/cache/prefix_tree.h"

#include <algorithm>

#include "base/check.h"
#include "base/planted_fault.h"

namespace assay::engine {

uint64_t PrefixTree::HashOf(const PrefixNode* parent, std::span<const int32_t> tokens) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  uint64_t hash = reinterpret_cast<uintptr_t>(parent) * kMultiplier;
  for (const int32_t token : tokens) {
    hash = (hash ^ (hash >> 32) ^ static_cast<uint32_t>(token)) * kMultiplier;
  }
  return hash ^ (hash >> 32);
}

PrefixNode* PrefixTree::Find(PrefixNode* parent, std::span<const int32_t> tokens) const {
  if (Planted(Fault::kPrefixCollision)) {
    const auto known = std::min<ptrdiff_t>(PlantedNumber(), std::ssize(tokens));
    const auto same = [&](const Node& node) {
      return node->parent == parent &&
             std::equal(tokens.begin(), tokens.begin() + known, node->tokens.begin());
    };
    const auto found = std::find_if(nodes_.begin(), nodes_.end(), same);
    return found == nodes_.end() ? nullptr : found->get();
  }
  const auto at = nodes_.find(Key{parent, tokens});
  return at == nodes_.end() ? nullptr : at->get();
}

PrefixNode* PrefixTree::FindOrAdd(PrefixNode* parent, std::span<const int32_t> tokens) {
  if (PrefixNode* found = Find(parent, tokens)) return found;
  Node node = std::make_unique<PrefixNode>();
  node->parent = parent;
  node->tokens.assign(tokens.begin(), tokens.end());
  Keep(parent);
  return nodes_.insert(std::move(node)).first->get();
}

void PrefixTree::Keep(PrefixNode* node) {
  if (node != nullptr) ++node->uses;
}

void PrefixTree::LetGo(PrefixNode* node) {
  if (node == nullptr) return;
  CHECK_GT(node->uses, 0);
  --node->uses;
  RemoveUnused(node);
}

void PrefixTree::Forget(PrefixNode* node, LayerGroup group) {
  node->blocks[group] = -1;
  RemoveUnused(node);
}

// And its parents, which may have been there for its sake only.
void PrefixTree::RemoveUnused(PrefixNode* node) {
  while (node != nullptr && node->uses == 0 && node->blocks == std::array<int32_t, kLayerGroups>{-1, -1}) {
    PrefixNode* parent = node->parent;
    nodes_.erase(nodes_.find(Key{node->parent, node->tokens}));
    if (parent != nullptr) --parent->uses;
    node = parent;
  }
}

}  // namespace assay::engine
