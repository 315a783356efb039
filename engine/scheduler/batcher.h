#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/scheduler/active_request.h"
#include "engine/scheduler/fair_queue.h"

namespace assay::engine {

// The next `tokens` positions of a request, after its `computed` ones.
struct BatchItem {
  ActiveRequest* request = nullptr;
  int64_t tokens = 0;
  bool ReachesEnd() const { return request->computed + tokens == request->Length(); }
};

// Who computes what in the next step, within a budget of max_num_batched_tokens:
//
// 1. Requests that generate: one token each, always.
// 2. What is left goes to prompts in the order in which they began, and then to waiting requests while
// budget,
//    seats and blocks last.
// 3. A prompt that does not fit into one step is long. One long prompt is computed at a time; it has half of
//    what 1 leaves, and all that 2 leaves. The others go on beside it, and requests that are not long may
//    pass long ones that wait for it. So neither kind can keep the other from being served.
// 4. Nobody passes a request that waits for KV blocks.
//
// A request that generates and finds no block takes them from the newest one that runs, which waits again
// before all others; what is left of its blocks in the prefix cache it finds there. Not thread-safe: the
// scheduler's thread owns it.
class Batcher {
 public:
  Batcher(const SchedulerOptions& options, const ModelConfig& config);

  void Add(std::unique_ptr<ActiveRequest> request);
  // Takes the request out and frees its blocks; null when it is not here.
  std::unique_ptr<ActiveRequest> Remove(uint64_t id);
  // The next step; empty only when nothing is left to do.
  const std::vector<BatchItem>& Plan();
  // The item's tokens are computed.
  void Advance(const BatchItem& item);
  // Nothing may run.
  void ForgetPrefixes() { blocks_.ForgetPrefixes(); }

  int64_t Running() const { return static_cast<int64_t>(running_.size()); }
  int64_t Waiting() const { return waiting_.Size(); }
  int64_t Preemptions() const { return preemptions_; }
  int64_t PrefixQueries() const { return prefix_queries_; }
  int64_t PrefixHits() const { return prefix_hits_; }
  const KvBlocks& Blocks() const { return blocks_; }
  std::vector<uint64_t> Ids() const;
  // For tests: the blocks of each request that runs.
  std::vector<const HeldBlocks*> Held() const;

 private:
  void PlanStep();
  void PlanGenerating();
  void Admit(ActiveRequest*& long_prompt, int64_t& kept);
  bool Begin(ActiveRequest& request);
  void Give(ActiveRequest& request, int64_t most);
  bool IsLong(const ActiveRequest& request) const;
  ActiveRequest* LongPrompt() const;
  int64_t Half() const;
  void PreemptNewest();

  SchedulerOptions options_;
  KvBlocks blocks_;
  std::vector<std::unique_ptr<ActiveRequest>> running_;  // in the order in which they began
  FairQueue waiting_;
  std::vector<BatchItem> plan_;
  int64_t budget_ = 0;  // of the step that is being planned
  int64_t planned_steps_ = 0;
  int64_t preemptions_ = 0, prefix_queries_ = 0, prefix_hits_ = 0;
};

}  // namespace assay::engine
