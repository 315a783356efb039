#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "engine/model/model.h"
#include "engine/scheduler/philox.h"

namespace assay::engine {

// A Model for tests. It keeps token ids where a real one keeps keys and values, and answers from what it
// reads back through the block table: a block given to two requests, or not computed, changes the answer.
class FakeModel : public Model {
 public:
  using History = std::span<const int32_t>;
  // Fills `logits` [vocab_size] from all tokens so far.
  using Rule = std::function<void(History, std::span<float>)>;

  FakeModel(int64_t vocab_size, int64_t num_blocks, int64_t block_size, Rule rule = {})
      : block_size_(block_size),
        slots_(static_cast<size_t>(num_blocks * block_size), -1),
        rule_(rule ? std::move(rule) : Rule(HashRule)) {
    config_.vocab_size = vocab_size;
    config_.max_position_embeddings = 1 << 20;
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
        Slot(sequence, sequence.start + static_cast<int64_t>(i)) = sequence.tokens[i];
      }
    }
    for (const Sequence& sequence : batch) {
      if (!sequence.want_logits) continue;
      std::vector<int32_t>& history = wanted.emplace_back();
      const int64_t end = sequence.start + static_cast<int64_t>(sequence.tokens.size());
      for (int64_t p = 0; p < end; ++p) history.push_back(Slot(sequence, p));
    }
    CHECK_LE(rows, padded_rows);
    logits.resize(wanted.size() * vocabulary);
    for (size_t i = 0; i < wanted.size(); ++i) {
      rule_(wanted[i], std::span(logits).subspan(i * vocabulary, vocabulary));
    }
    const std::lock_guard lock(mutex_);
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

  std::function<void()> before_forward;

 private:
  int32_t& Slot(const Sequence& sequence, int64_t position) {
    const int32_t block = sequence.block_table[static_cast<size_t>(position / block_size_)];
    return slots_[static_cast<size_t>(block * block_size_ + position % block_size_)];
  }

  static void HashRule(History history, std::span<float> logits) {
    uint64_t hash = 0;
    for (const int32_t id : history) hash = DerivedSeed(hash, static_cast<uint64_t>(id));
    for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>(6 * UniformDraw(hash, i));
  }

  int64_t block_size_;
  std::vector<int32_t> slots_;  // [num_blocks * block_size] token ids
  Rule rule_;
  ModelConfig config_{};
  std::string hash_ = "fake";
  mutable std::mutex mutex_;
  std::vector<Step> steps_;
};

}  // namespace assay::engine
