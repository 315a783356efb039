#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace assay::engine {

// How often each token has come, as penalties need it. Its cost is that of the distinct tokens, whatever the
// vocabulary.
class TokenHistory {
 public:
  struct Entry {
    int32_t id = 0;
    int64_t outputs = 0;  // times in the output; 0: in the prompt alone
  };
  void AddPrompt(std::span<const int32_t> ids) {
    for (const int32_t id : ids) At(id);
  }
  void AddOutput(int32_t id) { ++At(id).outputs; }
  const std::vector<Entry>& Entries() const { return entries_; }

 private:
  Entry& At(int32_t id) {
    const auto [at, added] = index_.try_emplace(id, entries_.size());
    if (added) entries_.push_back({id, 0});
    return entries_[at->second];
  }
  std::vector<Entry> entries_;
  std::unordered_map<int32_t, size_t> index_;
};

}  // namespace assay::engine
