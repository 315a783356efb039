#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/cache/block_pool.h"
#include "engine/scheduler/scheduler.h"

namespace assay::engine {

// One request from Submit to its last token.
struct ActiveRequest {
  uint64_t id = 0;  // in order of arrival
  GenerationRequest request;
  Scheduler::OnToken on_token;
  std::vector<int32_t> tokens;  // prompt, then output
  int64_t computed = 0;         // positions whose keys and values are in the cache
  std::vector<int32_t> blocks;

  int64_t Length() const { return static_cast<int64_t>(tokens.size()); }
  int64_t PromptTokens() const { return static_cast<int64_t>(request.prompt.size()); }
  int64_t OutputTokens() const { return Length() - PromptTokens(); }
};

// The next `tokens` positions of a request, after its `computed` ones.
struct BatchItem {
  ActiveRequest* request = nullptr;
  int64_t tokens = 0;
  bool ReachesEnd() const { return request->computed + tokens == request->Length(); }
};

// Who computes what in the next step. A step has a budget of max_num_batched_tokens: requests that run come
// first, in order of arrival, then waiting ones while budget, seats and blocks last. A request that finds no
// block takes them from the newest one that runs, which waits again at the head of the queue and is computed
// anew. Not thread-safe: the scheduler's thread owns it.
class Batcher {
 public:
  explicit Batcher(const SchedulerOptions& options);

  void Add(std::unique_ptr<ActiveRequest> request);
  // Takes the request out and frees its blocks; null when it is not here.
  std::unique_ptr<ActiveRequest> Remove(uint64_t id);
  // The next step; empty only when nothing is left to do.
  std::vector<BatchItem> Plan();

  int64_t Running() const { return static_cast<int64_t>(running_.size()); }
  int64_t Waiting() const { return static_cast<int64_t>(waiting_.size()); }
  int64_t Preemptions() const { return preemptions_; }
  const BlockPool& Pool() const { return pool_; }
  std::vector<uint64_t> Ids() const;

 private:
  void PlanRunning(std::vector<BatchItem>& plan, int64_t& budget);
  void PlanWaiting(std::vector<BatchItem>& plan, int64_t& budget);
  bool Grow(ActiveRequest& request, int64_t tokens);
  void PreemptNewest();

  SchedulerOptions options_;
  BlockPool pool_;
  std::vector<std::unique_ptr<ActiveRequest>> running_;  // in order of arrival
  std::deque<std::unique_ptr<ActiveRequest>> waiting_;   // in order of arrival
  int64_t preemptions_ = 0;
};

}  // namespace assay::engine
