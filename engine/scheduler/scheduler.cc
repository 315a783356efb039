#include "engine/scheduler/scheduler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "base/check.h"
#include "engine/faults/scheduler_faults.h"
#include "engine/scheduler/batcher.h"
#include "engine/scheduler/logprobs.h"
#include "engine/scheduler/padding.h"
#include "engine/scheduler/sampler.h"

namespace assay::engine {
namespace {

constexpr int64_t kLargestCapture = 512;
using SteadyClock = std::chrono::steady_clock;

// What other threads have asked for since the last step.
struct Mail {
  std::vector<std::unique_ptr<ActiveRequest>> added;
  std::vector<uint64_t> aborted;
  bool forget_prefixes = false;
  bool stop = false;
  bool Empty() const { return added.empty() && aborted.empty() && !forget_prefixes && !stop; }
};

class ThreadedScheduler final : public Scheduler {
 public:
  ThreadedScheduler(Model& model, const SchedulerOptions& options);
  ~ThreadedScheduler() override;

  int64_t MaxModelLen() const override { return options_.max_model_len; }
  uint64_t Submit(GenerationRequest request, OnToken on_token) override;
  void Abort(uint64_t id) override;
  bool ResetPrefixCache() override;
  SchedulerStats Stats() const override;
  double StalledSeconds() const override;

 private:
  void Loop();
  Mail WaitForMail();
  void Accept(Mail mail);
  void Step();
  void Sample(ActiveRequest& request, std::span<float> logits, int32_t picked);
  void Emit(ActiveRequest& request, GeneratedToken token);
  void End(uint64_t id, GeneratedToken token);
  void Publish(int64_t ended);

  Model& model_;
  SchedulerOptions options_;
  std::vector<int64_t> capture_sizes_;

  // The scheduler's thread alone.
  Batcher batcher_;
  std::vector<Sequence> batch_;
  std::vector<float> logits_;
  std::vector<float> raw_logits_;  // [vocab_size] of a request that wants logprobs
  SteadyClock::time_point step_end_;
  SchedulerStats counted_;
  [[no_unique_address]] SchedulerFaults faults_;

  mutable std::mutex mutex_;
  std::condition_variable mail_came_;
  Mail mail_;
  uint64_t next_id_ = 1;
  int64_t unfinished_ = 0;
  SteadyClock::time_point last_progress_ = SteadyClock::now();
  SchedulerStats stats_;

  std::thread thread_;  // last: runs on everything above
};

void Count(const ActiveRequest& request, GeneratedToken& token) {
  token.prompt_tokens = request.PromptTokens();
  token.output_tokens = request.OutputTokens();
  token.cached_tokens = request.cached_tokens;
}

GeneratedToken Aborted() {
  GeneratedToken token;
  token.finish = FinishReason::kAbort;
  return token;
}

ThreadedScheduler::ThreadedScheduler(Model& model, const SchedulerOptions& options)
    : model_(model), options_(options), batcher_(options, model.Config()) {
  const int64_t possible = std::min(model.Config().max_position_embeddings, batcher_.Blocks().Longest());
  options_.max_model_len = options.max_model_len > 0 ? std::min(options.max_model_len, possible) : possible;
  if (!options_.enforce_eager) {
    capture_sizes_ = CaptureSizes(std::min(kLargestCapture, options_.max_num_batched_tokens));
  }
  counted_.total_blocks = counted_.free_blocks = batcher_.Blocks().Total();
  stats_ = counted_;
  thread_ = std::thread([this] { Loop(); });
}

ThreadedScheduler::~ThreadedScheduler() {
  {
    const std::lock_guard lock(mutex_);
    mail_.stop = true;
  }
  mail_came_.notify_one();
  thread_.join();
}

uint64_t ThreadedScheduler::Submit(GenerationRequest request, OnToken on_token) {
  const auto prompt = static_cast<int64_t>(request.prompt.size());
  CHECK_GT(prompt, 0);
  CHECK_LT(prompt, options_.max_model_len);
  request.max_tokens = std::clamp<int64_t>(request.max_tokens, 1, options_.max_model_len - prompt);
  auto active = std::make_unique<ActiveRequest>();
  active->submitted = SteadyClock::now();
  active->tokens = request.prompt;
  if (HasPenalty(request)) active->history.AddPrompt(request.prompt);
  active->request = std::move(request);
  active->on_token = std::move(on_token);

  const std::lock_guard lock(mutex_);
  faults_.Submitted(active->request);
  const uint64_t id = active->id = next_id_++;
  if (unfinished_++ == 0) last_progress_ = SteadyClock::now();
  mail_.added.push_back(std::move(active));
  mail_came_.notify_one();
  return id;
}

void ThreadedScheduler::Abort(uint64_t id) {
  const std::lock_guard lock(mutex_);
  mail_.aborted.push_back(id);
  mail_came_.notify_one();
}

bool ThreadedScheduler::ResetPrefixCache() {
  const std::lock_guard lock(mutex_);
  if (unfinished_ > 0) return false;
  mail_.forget_prefixes = true;  // is read before any request that comes after this
  mail_came_.notify_one();
  return true;
}

SchedulerStats ThreadedScheduler::Stats() const {
  const std::lock_guard lock(mutex_);
  SchedulerStats stats = stats_;
  stats.waiting = unfinished_ - stats.running;
  return stats;
}

double ThreadedScheduler::StalledSeconds() const {
  const std::lock_guard lock(mutex_);
  if (unfinished_ == 0) return 0;
  return std::chrono::duration<double>(SteadyClock::now() - last_progress_).count();
}

void ThreadedScheduler::Loop() {
  for (;;) {
    Mail mail = WaitForMail();
    const bool stop = mail.stop;
    Accept(std::move(mail));
    if (stop) {
      for (const uint64_t id : batcher_.Ids()) End(id, Aborted());
      return;
    }
    Step();
  }
}

// Returns at once while there is work.
Mail ThreadedScheduler::WaitForMail() {
  std::unique_lock lock(mutex_);
  const bool idle = batcher_.Running() + batcher_.Waiting() == 0;
  if (idle) mail_came_.wait(lock, [&] { return !mail_.Empty(); });
  return std::exchange(mail_, Mail{});
}

void ThreadedScheduler::Accept(Mail mail) {
  if (mail.forget_prefixes) batcher_.ForgetPrefixes();
  for (auto& request : mail.added) batcher_.Add(std::move(request));
  for (const uint64_t id : mail.aborted) End(id, Aborted());
}

void ThreadedScheduler::Step() {
  const std::vector<BatchItem>& plan = batcher_.Plan();
  if (plan.empty()) return;
  const SteadyClock::time_point begin = SteadyClock::now();
  batch_.clear();
  int64_t rows = 0;
  for (const BatchItem& item : plan) {
    ActiveRequest& request = *item.request;
    if (request.first_run == SteadyClock::time_point{}) request.first_run = begin;
    const std::span<const int32_t> tokens(request.tokens);
    batch_.push_back({tokens.subspan(static_cast<size_t>(request.computed), static_cast<size_t>(item.tokens)),
                      request.computed, request.held.tables[kFullLayers], item.ReachesEnd(),
                      request.held.tables[kSlidingLayers], request.id,
                      PickOf(request.request, request.OutputTokens())});
    rows += item.tokens;
  }
  model_.Forward(batch_, PaddedRows(rows, capture_sizes_), logits_);
  if constexpr (kFaultsCompiledIn)
    faults_.Computed(SteadyClock::now() - begin, rows > static_cast<int64_t>(plan.size()));
  step_end_ = SteadyClock::now();

  const auto vocabulary = static_cast<size_t>(model_.Config().vocab_size);
  const std::span<const int32_t> picked = model_.Picked();
  size_t row = 0;
  for (const BatchItem& item : plan) {
    const bool wants_token = item.ReachesEnd();
    batcher_.Advance(item);
    if (!wants_token) continue;
    if (item.request->OutputTokens() == 0) counted_.prompt_tokens += item.request->PromptTokens();
    CHECK_LE((row + 1) * vocabulary, logits_.size());
    Sample(*item.request, {logits_.data() + vocabulary * row, vocabulary},
           picked.empty() ? Model::kNotPicked : picked[row]);
    ++row;
  }
  ++counted_.steps;
  Publish(0);
}

// `picked`: what the model chose, which has left `logits` as they were.
void ThreadedScheduler::Sample(ActiveRequest& request, std::span<float> logits, int32_t picked) {
  const std::optional<int64_t>& logprobs = request.request.logprobs;
  if (logprobs) raw_logits_.assign(logits.begin(), logits.end());  // sampling changes them
  std::optional<int32_t> id;
  if (picked == Model::kNotPicked) {
    id = SampleToken(logits, request.request, request.history, request.OutputTokens());
  } else if (picked != Model::kNothing) {
    id = picked;
  }
  GeneratedToken token;
  if (id) {
    token.id = *id;
    if (logprobs) AddLogprobs(raw_logits_, *logprobs, token);
  } else {
    token.finish = FinishReason::kError;
    token.error = "the model computed logits that are not numbers";
  }
  Emit(request, std::move(token));
}

// Appends the token, tells the client, and ends the request when this was its last.
void ThreadedScheduler::Emit(ActiveRequest& request, GeneratedToken token) {
  const auto seconds = [](SteadyClock::duration d) { return std::chrono::duration<double>(d).count(); };
  if (token.finish == FinishReason::kNone) {
    ++counted_.generated_tokens;
    if (request.OutputTokens() > 0) token.since_previous_seconds = seconds(step_end_ - request.last_token);
    request.last_token = step_end_;
    request.tokens.push_back(token.id);
    if (HasPenalty(request.request)) request.history.AddOutput(token.id);
    const auto& stops = request.request.stop_ids;
    if (!Planted(Fault::kStopIgnored) && std::find(stops.begin(), stops.end(), token.id) != stops.end()) {
      token.finish = FinishReason::kStop;
    } else if (request.OutputTokens() >= request.request.max_tokens) {
      token.finish = FinishReason::kLength;
    }
    faults_.Sampled(request.id, request.OutputTokens(), token);
  }
  token.queue_seconds = seconds(request.first_run - request.submitted);
  if (request.OutputTokens() == 1) request.prefill_seconds = seconds(step_end_ - request.first_run);
  token.prefill_seconds = request.prefill_seconds;
  if (token.finish != FinishReason::kNone) return End(request.id, std::move(token));
  Count(request, token);
  request.on_token(token);
}

// The blocks are free, and Stats says so, before the client hears of the end.
void ThreadedScheduler::End(uint64_t id, GeneratedToken token) {
  const std::unique_ptr<ActiveRequest> ended = batcher_.Remove(id);
  if (!ended) return;
  Count(*ended, token);
  Publish(1);
  ended->on_token(token);
}

void ThreadedScheduler::Publish(int64_t ended) {
  counted_.running = batcher_.Running();
  counted_.preemptions = batcher_.Preemptions();
  counted_.prefix_cache_queries = batcher_.PrefixQueries();
  counted_.prefix_cache_hits = batcher_.PrefixHits();
  counted_.free_blocks = batcher_.Blocks().Free();
  counted_.total_blocks = batcher_.Blocks().Total();
  const std::lock_guard lock(mutex_);
  stats_ = counted_;
  unfinished_ -= ended;
  last_progress_ = SteadyClock::now();
}

}  // namespace

std::unique_ptr<Scheduler> Scheduler::Start(Model& model, const SchedulerOptions& options) {
  return std::make_unique<ThreadedScheduler>(model, options);
}

}  // namespace assay::engine
