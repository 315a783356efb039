#include "engine/scheduler/scheduler.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "base/check.h"
#include "engine/scheduler/batcher.h"
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
  bool stop = false;
  bool Empty() const { return added.empty() && aborted.empty() && !stop; }
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
  void Emit(ActiveRequest& request, std::optional<int32_t> id);
  void End(uint64_t id, GeneratedToken token);
  void Publish(int64_t ended);

  Model& model_;
  SchedulerOptions options_;
  std::vector<int64_t> capture_sizes_;

  // The scheduler's thread alone.
  Batcher batcher_;
  std::vector<Sequence> batch_;
  std::vector<float> logits_;
  SchedulerStats counted_;

  mutable std::mutex mutex_;
  std::condition_variable mail_came_;
  Mail mail_;
  uint64_t next_id_ = 1;
  int64_t unfinished_ = 0;
  SteadyClock::time_point last_progress_ = SteadyClock::now();
  SchedulerStats stats_;

  std::thread thread_;  // last: runs on everything above
};

GeneratedToken Aborted() {
  GeneratedToken token;
  token.finish = FinishReason::kAbort;
  return token;
}

SchedulerOptions Resolve(const Model& model, SchedulerOptions options) {
  const int64_t possible =
      std::min(model.Config().max_position_embeddings, options.num_blocks * options.block_size);
  options.max_model_len = options.max_model_len > 0 ? std::min(options.max_model_len, possible) : possible;
  return options;
}

ThreadedScheduler::ThreadedScheduler(Model& model, const SchedulerOptions& options)
    : model_(model), options_(Resolve(model, options)), batcher_(options_) {
  if (!options_.enforce_eager) {
    capture_sizes_ = CaptureSizes(std::min(kLargestCapture, options_.max_num_batched_tokens));
  }
  counted_.total_blocks = counted_.free_blocks = batcher_.Pool().Total();
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
  active->tokens = request.prompt;
  active->request = std::move(request);
  active->on_token = std::move(on_token);

  const std::lock_guard lock(mutex_);
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

// Nothing is cached yet.
bool ThreadedScheduler::ResetPrefixCache() {
  const std::lock_guard lock(mutex_);
  return unfinished_ == 0;
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
  for (auto& request : mail.added) batcher_.Add(std::move(request));
  for (const uint64_t id : mail.aborted) End(id, Aborted());
}

void ThreadedScheduler::Step() {
  const std::vector<BatchItem> plan = batcher_.Plan();
  if (plan.empty()) return;
  batch_.clear();
  int64_t rows = 0;
  for (const BatchItem& item : plan) {
    const ActiveRequest& request = *item.request;
    const std::span<const int32_t> tokens(request.tokens);
    batch_.push_back({tokens.subspan(static_cast<size_t>(request.computed), static_cast<size_t>(item.tokens)),
                      request.computed, request.blocks, item.ReachesEnd()});
    rows += item.tokens;
  }
  model_.Forward(batch_, PaddedRows(rows, capture_sizes_), logits_);

  const auto vocabulary = static_cast<size_t>(model_.Config().vocab_size);
  size_t row = 0;
  for (const BatchItem& item : plan) {
    ActiveRequest& request = *item.request;
    const bool wants_token = item.ReachesEnd();
    request.computed += item.tokens;
    if (!wants_token) continue;
    if (request.OutputTokens() == 0) counted_.prompt_tokens += request.PromptTokens();
    CHECK_LE((row + 1) * vocabulary, logits_.size());
    const std::span<float> logits(logits_.data() + vocabulary * row++, vocabulary);
    Emit(request, SampleToken(logits, request.request, request.OutputTokens()));
  }
  ++counted_.steps;
  Publish(0);
}

// Appends the token, tells the client, and ends the request when this was its last. Nothing: it failed.
void ThreadedScheduler::Emit(ActiveRequest& request, std::optional<int32_t> id) {
  GeneratedToken token;
  if (id) {
    ++counted_.generated_tokens;
    request.tokens.push_back(*id);
    token.id = *id;
    const auto& stops = request.request.stop_ids;
    if (std::find(stops.begin(), stops.end(), *id) != stops.end()) {
      token.finish = FinishReason::kStop;
    } else if (request.OutputTokens() >= request.request.max_tokens) {
      token.finish = FinishReason::kLength;
    }
  } else {
    token.finish = FinishReason::kError;
    token.error = "the model computed logits that are not numbers";
  }
  if (token.finish != FinishReason::kNone) return End(request.id, std::move(token));
  token.prompt_tokens = request.PromptTokens();
  token.output_tokens = request.OutputTokens();
  request.on_token(token);
}

// The blocks are free, and Stats says so, before the client hears of the end.
void ThreadedScheduler::End(uint64_t id, GeneratedToken token) {
  const std::unique_ptr<ActiveRequest> ended = batcher_.Remove(id);
  if (!ended) return;
  token.prompt_tokens = ended->PromptTokens();
  token.output_tokens = ended->OutputTokens();
  Publish(1);
  ended->on_token(token);
}

void ThreadedScheduler::Publish(int64_t ended) {
  counted_.running = batcher_.Running();
  counted_.preemptions = batcher_.Preemptions();
  counted_.free_blocks = batcher_.Pool().Free();
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
