#include "engine/scheduler/batcher.h"

#include <algorithm>

#include "base/check.h"

namespace assay::engine {

Batcher::Batcher(const SchedulerOptions& options) : options_(options), pool_(options.num_blocks) {
  CHECK_GT(options.max_num_seqs, 0);
  CHECK_GT(options.max_num_batched_tokens, 0);
}

void Batcher::Add(std::unique_ptr<ActiveRequest> request) {
  CHECK_LE(BlocksFor(request->PromptTokens() + request->request.max_tokens, options_.block_size),
           pool_.Total());
  waiting_.push_back(std::move(request));
}

std::unique_ptr<ActiveRequest> Batcher::Remove(uint64_t id) {
  const auto take = [&](auto& requests) {
    std::unique_ptr<ActiveRequest> found;
    const auto at =
        std::find_if(requests.begin(), requests.end(), [&](const auto& r) { return r->id == id; });
    if (at != requests.end()) {
      found = std::move(*at);
      requests.erase(at);
      pool_.Give(found->blocks);
    }
    return found;
  };
  std::unique_ptr<ActiveRequest> found = take(running_);
  return found ? std::move(found) : take(waiting_);
}

std::vector<BatchItem> Batcher::Plan() {
  std::vector<BatchItem> plan;
  int64_t budget = options_.max_num_batched_tokens;
  const int64_t preemptions_before = preemptions_;
  PlanRunning(plan, budget);
  if (preemptions_ == preemptions_before) PlanWaiting(plan, budget);
  CHECK(!plan.empty() || (running_.empty() && waiting_.empty()));
  return plan;
}

void Batcher::PlanRunning(std::vector<BatchItem>& plan, int64_t& budget) {
  for (size_t i = 0; i < running_.size() && budget > 0; ++i) {
    ActiveRequest& request = *running_[i];
    const int64_t tokens = std::min(request.Length() - request.computed, budget);
    if (!Grow(request, tokens)) return;  // it was the newest and set itself back
    plan.push_back({&request, tokens});
    budget -= tokens;
  }
}

// False when `request`, being the newest, had to give up its own blocks.
bool Batcher::Grow(ActiveRequest& request, int64_t tokens) {
  while (!GrowTable(pool_, options_.block_size, request.computed + tokens, request.blocks)) {
    const bool itself = running_.back().get() == &request;
    PreemptNewest();
    if (itself) return false;
  }
  return true;
}

void Batcher::PreemptNewest() {
  std::unique_ptr<ActiveRequest> victim = std::move(running_.back());
  running_.pop_back();
  pool_.Give(victim->blocks);
  victim->computed = 0;
  waiting_.push_front(std::move(victim));
  ++preemptions_;
}

void Batcher::PlanWaiting(std::vector<BatchItem>& plan, int64_t& budget) {
  while (budget > 0 && !waiting_.empty() && Running() < options_.max_num_seqs) {
    ActiveRequest& request = *waiting_.front();
    const int64_t tokens = std::min(request.Length(), budget);
    if (!GrowTable(pool_, options_.block_size, tokens, request.blocks)) return;
    plan.push_back({&request, tokens});
    budget -= tokens;
    running_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

std::vector<uint64_t> Batcher::Ids() const {
  std::vector<uint64_t> ids;
  for (const auto& request : running_) ids.push_back(request->id);
  for (const auto& request : waiting_) ids.push_back(request->id);
  return ids;
}

}  // namespace assay::engine
