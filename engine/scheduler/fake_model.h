#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/cache/cache_groups.h"
#include "engine/model/model.h"
#include "engine/scheduler/philox.h"
#include "engine/scheduler/sampler.h"

namespace assay::engine {

struct FakeLayers {
  std::vector<bool> sliding = {true, false};
  int64_t window = 10;
  int64_t num_sliding_blocks = 0;  // 0: num_blocks
};

// A Model for tests. It keeps token ids where a real one keeps keys and values, and answers from what it
// reads back through the block tables: a block given to two requests, or not computed, changes the answer. A
// sliding layer that does not find what the full ones have is a CHECK.
class FakeModel : public Model {
 public:
  using History = std::span<const int32_t>;
  // Fills `logits` [vocab_size] from all tokens so far; from those in the window when all layers slide.
  using Rule = std::function<void(History, std::span<float>)>;

  FakeModel(int64_t vocab_size, int64_t num_blocks, int64_t block_size, Rule rule = {},
            const FakeLayers& layers = {})
      : block_size_(block_size), rule_(rule ? std::move(rule) : Rule(HashRule)) {
    config_.vocab_size = vocab_size;
    config_.max_position_embeddings = 1 << 20;
    config_.sliding = layers.sliding;
    config_.sliding_window = layers.window;
    const int64_t sliding_blocks = layers.num_sliding_blocks > 0 ? layers.num_sliding_blocks : num_blocks;
    slots_[kFullLayers].assign(static_cast<size_t>(num_blocks * block_size), -1);
    slots_[kSlidingLayers].assign(static_cast<size_t>(sliding_blocks * block_size), -1);
  }

  const ModelConfig& Config() const override { return config_; }
  const std::string& WeightsHash() const override { return hash_; }

  void Forward(std::span<const Sequence> batch, int64_t padded_rows, std::vector<float>& logits) override {
    if (before_forward) before_forward();
    const auto vocabulary = static_cast<size_t>(config_.vocab_size);
    int64_t rows = 0;
    std::vector<std::vector<int32_t>> wanted;
    for (const Sequence& sequence : batch) {
      rows += static_cast<int64_t>(sequence.tokens.size());
      for (size_t i = 0; i < sequence.tokens.size(); ++i) {
        const int64_t position = sequence.start + static_cast<int64_t>(i);
        for (const LayerGroup group : Groups()) Slot(group, sequence, position) = sequence.tokens[i];
      }
    }
    for (const Sequence& sequence : batch) CheckWindow(sequence);
    for (const Sequence& sequence : batch) {
      if (!sequence.want_logits) continue;
      std::vector<int32_t>& history = wanted.emplace_back();
      const int64_t end = sequence.start + static_cast<int64_t>(sequence.tokens.size());
      const LayerGroup group = Groups().front();
      const int64_t begin = group == kFullLayers ? 0 : WindowBegin(end - 1, config_.sliding_window);
      for (int64_t p = begin; p < end; ++p) history.push_back(Slot(group, sequence, p));
    }
    CHECK_LE(rows, padded_rows);
    logits.resize(wanted.size() * vocabulary);
    for (size_t i = 0; i < wanted.size(); ++i) {
      rule_(wanted[i], std::span(logits).subspan(i * vocabulary, vocabulary));
    }
    if (picks) PickTokens(batch, logits);
    const std::lock_guard lock(mutex_);
    for (const Sequence& sequence : batch) {
      if (sequence.want_logits) asked_.push_back(sequence.pick);
    }
    steps_.push_back({rows, padded_rows, batch.size()});
  }

  struct Step {
    int64_t rows, padded_rows;
    size_t sequences;
  };
  std::vector<Step> Steps() const {
    const std::lock_guard lock(mutex_);
    return steps_;
  }

  // The pick of each sequence that wanted logits, so far.
  std::vector<std::optional<Pick>> Asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  std::span<const int32_t> Picked() const override { return picked_; }

  std::function<void()> before_forward;
  bool picks = false;  // as a GPU does: what has a pick is chosen here, and its logits are spoiled

 private:
  std::vector<LayerGroup> Groups() const {
    std::vector<LayerGroup> groups;
    for (const LayerGroup group : {kFullLayers, kSlidingLayers}) {
      if (LayersOf(group, config_) > 0) groups.push_back(group);
    }
    return groups;
  }

  void PickTokens(std::span<const Sequence> batch, std::vector<float>& logits) {
    picked_.clear();
    const auto vocabulary = static_cast<size_t>(config_.vocab_size);
    for (const Sequence& sequence : batch) {
      if (!sequence.want_logits) continue;
      const std::span<float> row = std::span(logits).subspan(picked_.size() * vocabulary, vocabulary);
      picked_.push_back(sequence.pick ? PickToken(row, *sequence.pick).value_or(kNothing) : kNotPicked);
      if (sequence.pick) std::fill(row.begin(), row.end(), -1e30f);
    }
  }

  int32_t& Slot(LayerGroup group, const Sequence& sequence, int64_t position) {
    const auto table = group == kFullLayers ? sequence.block_table : sequence.sliding_block_table;
    const int32_t block = table[static_cast<size_t>(position / block_size_)];
    CHECK_GE(block, 0);
    return slots_[group][static_cast<size_t>(block * block_size_ + position % block_size_)];
  }

  // All that the sequence's first token sees in the sliding layers, and its later ones.
  void CheckWindow(const Sequence& sequence) {
    if (Groups().size() < 2) return;
    const int64_t end = sequence.start + static_cast<int64_t>(sequence.tokens.size());
    for (int64_t p = WindowBegin(sequence.start, config_.sliding_window); p < end; ++p) {
      CHECK_EQ(Slot(kSlidingLayers, sequence, p), Slot(kFullLayers, sequence, p));
    }
  }

  static void HashRule(History history, std::span<float> logits) {
    uint64_t hash = 0;
    for (const int32_t id : history) hash = DerivedSeed(hash, static_cast<uint64_t>(id));
    for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(6 * UniformDraw(hash, i));
  }

  int64_t block_size_;
  std::array<std::vector<int32_t>, kLayerGroups> slots_;  // [num_blocks * block_size] token ids
  Rule rule_;
  ModelConfig config_{};
  std::string hash_ = "fake";
  std::vector<int32_t> picked_;
  mutable std::mutex mutex_;
  std::vector<Step> steps_;
  std::vector<std::optional<Pick>> asked_;
};

}  // namespace assay::engine
