#include "engine/scheduler/batcher.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/check.h"

namespace assay::engine {
namespace {

KvBlocksOptions ToKvBlocksOptions(const SchedulerOptions& options, const ModelConfig& config) {
  KvBlocksOptions out;
  out.block_size = options.block_size;
  if (LayersOf(kFullLayers, config) > 0) out.num_blocks[kFullLayers] = options.num_blocks;
  if (LayersOf(kSlidingLayers, config) > 0) {
    out.num_blocks[kSlidingLayers] =
        options.num_sliding_blocks > 0 ? options.num_sliding_blocks : options.num_blocks;
  }
  out.window = config.sliding_window;
  out.prefix_cache = options.enable_prefix_caching;
  if (options.prefix_hash != nullptr) out.hash = options.prefix_hash;
  return out;
}

}  // namespace

Batcher::Batcher(const SchedulerOptions& options, const ModelConfig& config)
    : options_(options), blocks_(ToKvBlocksOptions(options, config)) {
  CHECK_GT(options.max_num_seqs, 0);
  CHECK_GT(options.max_num_batched_tokens, 0);
}

void Batcher::Add(std::unique_ptr<ActiveRequest> request) {
  CHECK_LE(request->PromptTokens() + request->request.max_tokens, blocks_.Longest());
  waiting_.Add(std::move(request));
}

std::unique_ptr<ActiveRequest> Batcher::Remove(uint64_t id) {
  const auto at = std::find_if(running_.begin(), running_.end(), [&](const auto& r) { return r->id == id; });
  if (at == running_.end()) return waiting_.Remove(id);
  std::unique_ptr<ActiveRequest> found = std::move(*at);
  running_.erase(at);
  blocks_.GiveBack(found->held);
  return found;
}

const std::vector<BatchItem>& Batcher::Plan() {
  ++planned_steps_;
  PlanStep();
  while (plan_.empty() && !running_.empty()) {
    PreemptNewest();  // prompts hold all sliding blocks, and none has enough for its next token
    PlanStep();
  }
  CHECK(!plan_.empty() || Waiting() == 0);
  return plan_;
}

void Batcher::PlanStep() {
  plan_.clear();
  budget_ = options_.max_num_batched_tokens;
  const int64_t preemptions_before = preemptions_;
  PlanGenerating();
  ActiveRequest* long_prompt = LongPrompt();
  int64_t kept = long_prompt == nullptr ? 0 : Half();  // of the budget, for the long prompt
  for (const auto& request : running_) {
    if (request->Missing() > 1 && request.get() != long_prompt) Give(*request, budget_ - kept);
  }
  if (preemptions_ == preemptions_before) Admit(long_prompt, kept);
  if (long_prompt != nullptr) Give(*long_prompt, budget_);
}

void Batcher::PlanGenerating() {
  for (size_t i = 0; i < running_.size() && budget_ > 0; ++i) {
    ActiveRequest& request = *running_[i];
    if (request.Missing() > 1) continue;
    while (blocks_.Reserve(request.computed, 1, request.held) == 0) {
      const bool itself = running_.back().get() == &request;
      PreemptNewest();
      if (itself) return;
    }
    plan_.push_back({&request, 1});
    --budget_;
  }
}

void Batcher::Admit(ActiveRequest*& long_prompt, int64_t& kept) {
  constexpr int64_t kAnyLength = std::numeric_limits<int64_t>::max();
  while (budget_ > kept && Running() < options_.max_num_seqs) {
    ActiveRequest* next =
        waiting_.Next(long_prompt == nullptr ? kAnyLength : options_.max_num_batched_tokens);
    if (next == nullptr || !Begin(*next)) return;
    running_.push_back(waiting_.Take(next));
    if (IsLong(*next)) {
      long_prompt = next;
      kept = Half();
    } else {
      Give(*next, budget_ - kept);
    }
  }
}

bool Batcher::Begin(ActiveRequest& request) {
  const bool look_up = options_.enable_prefix_caching && request.request.use_prefix_cache;
  const std::optional<int64_t> found = blocks_.Begin(request.tokens, look_up, request.held);
  if (!found) return false;
  request.computed = *found;
  if (std::exchange(request.has_run, true)) return true;
  request.cached_tokens = *found;
  if (look_up) prefix_queries_ += request.PromptTokens();
  prefix_hits_ += *found;
  return true;
}

// As many of the tokens that are missing as the blocks allow, up to `most`.
void Batcher::Give(ActiveRequest& request, int64_t most) {
  const int64_t wanted = std::min(request.Missing(), most);
  const int64_t tokens = wanted > 0 ? blocks_.Reserve(request.computed, wanted, request.held) : 0;
  if (tokens == 0) return;
  plan_.push_back({&request, tokens});
  budget_ -= tokens;
}

bool Batcher::IsLong(const ActiveRequest& request) const {
  return request.Missing() > options_.max_num_batched_tokens;
}

// There is at most one: Admit lets no second begin.
ActiveRequest* Batcher::LongPrompt() const {
  const auto at = std::find_if(running_.begin(), running_.end(), [&](const auto& r) { return IsLong(*r); });
  return at == running_.end() ? nullptr : at->get();
}

// Of the budget that is left. An odd token goes to either side in turn, so that one token a step still serves
// both.
int64_t Batcher::Half() const {
  return (budget_ + planned_steps_ % 2) / 2;
}

void Batcher::PreemptNewest() {
  std::unique_ptr<ActiveRequest> victim = std::move(running_.back());
  running_.pop_back();
  blocks_.GiveBack(victim->held);
  victim->computed = 0;
  waiting_.Return(std::move(victim));
  ++preemptions_;
}

void Batcher::Advance(const BatchItem& item) {
  ActiveRequest& request = *item.request;
  request.computed += item.tokens;
  blocks_.Advance(request.tokens, request.computed, request.request.use_prefix_cache, request.held);
}

std::vector<uint64_t> Batcher::Ids() const {
  std::vector<uint64_t> ids = waiting_.Ids();
  for (const auto& request : running_) ids.push_back(request->id);
  return ids;
}

std::vector<const HeldBlocks*> Batcher::Held() const {
  std::vector<const HeldBlocks*> held;
  for (const auto& request : running_) held.push_back(&request->held);
  return held;
}

}  // namespace assay::engine
