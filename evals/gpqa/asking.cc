#include "evals/gpqa/asking.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "evals/gpqa/question_text.h"
#include "wire/responses.h"

namespace assay::evals {
namespace {

using record::QuestionSample;

constexpr std::chrono::milliseconds kLookAtStopEvery(50);

std::string Digits(const std::array<int, 4>& permutation) {
  std::string digits;
  for (const int choice : permutation) digits += static_cast<char>('0' + choice);
  return digits;
}

}  // namespace

std::string WithoutQuestion(std::string text, std::string_view prompt) {
  constexpr size_t kMost = 2000;
  if (text.size() > kMost) text = Printable(text.substr(0, kMost)) + "...";
  QuestionText question;
  question.Add(prompt);
  return question.LeaveOut(text);
}

Asking::Asking(const std::string& base_url, const GpqaOptions& options, const GpqaPlan& plan,
               Progress& progress, const GpqaHooks& hooks, std::vector<int64_t> looks, Decided decided)
    : options_(options),
      plan_(plan),
      progress_(progress),
      hooks_(hooks),
      looks_(std::move(looks)),
      decided_(std::move(decided)),
      kind_(options.api == "responses" ? StreamKind::kResponses : StreamKind::kChat),
      url_(JoinUrl(base_url, kind_ == StreamKind::kResponses ? "/v1/responses" : "/v1/chat/completions")),
      client_(NewCurlClient()),
      samples_(plan.samples.size()) {}

Status Asking::Keep(const std::vector<QuestionSample>& kept) {
  std::map<std::pair<std::string, int>, size_t> planned;
  for (size_t i = 0; i < plan_.samples.size(); ++i)
    planned[{plan_.questions[plan_.samples[i].question].id, plan_.samples[i].repeat}] = i;
  for (const QuestionSample& sample : kept) {
    const auto found = planned.find({sample.id, sample.repeat});
    const Shown* shown = found == planned.end() ? nullptr : &plan_.samples[found->second];
    if (shown == nullptr || Digits(shown->permutation) != sample.permutation ||
        sample.expected != std::string(1, shown->expected)) {
      return Fail(ErrorKind::kUsage,
                  "the earlier attempt asked {} (repeat {}) otherwise than this one would: another data set, "
                  "subset, seed or number of repeats",
                  sample.id, sample.repeat);
    }
    if (!samples_[found->second]) {
      ++answered_;
      failed_ += sample.error.empty() ? 0 : 1;
    }
    samples_[found->second] = sample;
  }
  progress_.done = static_cast<int64_t>(answered_);
  return {};
}

void Asking::Run() {
  progress_.planned = static_cast<int64_t>(samples_.size());
  LookAtPart();
  while (!Over()) {
    while (StartNext()) client_->Poll(std::chrono::microseconds(0));
    client_->Poll(UntilNextRetry());
  }
  stopped_ = true;  // what is still in flight was neither answered nor failed: it is not in the record
  client_->CancelAll("stopped");
}

std::vector<QuestionSample> Asking::TakeSamples() {
  if (part_) return First(*part_);
  std::vector<QuestionSample> taken;
  for (auto& sample : samples_) {
    if (sample) taken.push_back(std::move(*sample));
  }
  return taken;
}

std::vector<QuestionSample> Asking::First(size_t count) const {
  std::vector<size_t> indices(plan_.order.begin(), plan_.order.begin() + static_cast<std::ptrdiff_t>(count));
  std::sort(indices.begin(), indices.end());
  std::vector<QuestionSample> part;
  for (const size_t index : indices) part.push_back(*samples_[index]);
  return part;
}

bool Asking::IsHopeless() const {
  constexpr size_t kLeast = 10;  // enough to show why
  return failed_ >= kLeast &&
         static_cast<double>(failed_) > hooks_.max_failed_share * static_cast<double>(samples_.size());
}

bool Asking::StartNext() {
  if (Over() || client_->InFlight() >= static_cast<size_t>(options_.concurrency)) return false;
  const TimePoint now = RealClock().Now();
  const auto due =
      std::find_if(retries_.begin(), retries_.end(), [&](const Retry& r) { return r.due <= now; });
  if (due != retries_.end()) {
    const Retry retry = *due;
    retries_.erase(due);
    Ask(retry.index, retry.retry);
    return true;
  }
  while (next_ < plan_.order.size() && samples_[plan_.order[next_]]) ++next_;
  if (next_ == plan_.order.size()) return false;
  ++sent_;
  Ask(plan_.order[next_++], 0);
  return true;
}

std::chrono::microseconds Asking::UntilNextRetry() const {
  TimePoint wake = RealClock().Now() + kLookAtStopEvery;
  for (const Retry& retry : retries_) wake = std::min(wake, retry.due);
  return std::max(std::chrono::microseconds(0),
                  std::chrono::ceil<std::chrono::microseconds>(wake - RealClock().Now()));
}

void Asking::Ask(size_t index, int retry) {
  HttpRequest request;
  request.url = url_;
  const wire::ChatRequest chat = ChatRequestOf(index);
  request.body = (kind_ == StreamKind::kResponses ? wire::ToResponsesJson(chat) : wire::ToJson(chat)).dump();
  if (!options_.api_key.empty()) request.headers.push_back("Authorization: Bearer " + options_.api_key);
  request.total_timeout = Timeout(options_.request_timeout_s);
  request.idle_timeout = Timeout(options_.idle_timeout_s);
  StartStream(
      *client_, std::move(request), kind_, progress_,
      [this, index, retry](StreamOutcome outcome) { Answered(index, retry, std::move(outcome)); },
      options_.any_model ? "" : options_.model);
}

wire::ChatRequest Asking::ChatRequestOf(size_t index) const {
  wire::ChatRequest request;
  request.model = options_.model;
  wire::ChatMessage message;
  message.role = "user";
  const Shown& shown = plan_.samples[index];
  message.content = Render(plan_.prompt, plan_.questions[shown.question], shown.permutation);
  request.messages.push_back(std::move(message));
  request.sampling.temperature = options_.temperature;
  request.sampling.max_tokens = options_.max_tokens;
  if (options_.sampling_seed) request.sampling.seed = *options_.sampling_seed + static_cast<int64_t>(index);
  if (options_.reasoning_effort != "default") request.reasoning_effort = options_.reasoning_effort;
  request.stream = true;
  request.stream_options.include_usage = true;
  return request;
}

void Asking::Answered(size_t index, int retry, StreamOutcome outcome) {
  if (stopped_) return;
  if (!outcome.error.empty() && outcome.retryable && retry < options_.retries) {
    retries_.push_back({RealClock().Now() + RetryDelay(retry + 1), index, retry + 1});
    return;
  }
  samples_[index] = SampleOf(index, std::move(outcome));
  ++answered_;
  failed_ += samples_[index]->error.empty() ? 0 : 1;
  ++progress_.done;
  if (hooks_.on_sample) hooks_.on_sample(*samples_[index]);
  LookAtPart();
}

// Only samples of an unbroken beginning count: those that are answered first are the short ones.
void Asking::LookAtPart() {
  while (!part_ && leading_ < plan_.order.size() && samples_[plan_.order[leading_]]) {
    ++leading_;
    const bool look = std::find(looks_.begin(), looks_.end(), static_cast<int64_t>(leading_)) != looks_.end();
    if (look && leading_ < plan_.order.size() && decided_(First(leading_))) part_ = leading_;
  }
}

QuestionSample Asking::SampleOf(size_t index, StreamOutcome outcome) const {
  const Shown& shown = plan_.samples[index];
  const Question& question = plan_.questions[shown.question];
  QuestionSample sample;
  sample.id = question.id;
  sample.repeat = shown.repeat;
  sample.domain = question.domain;
  sample.band = question.band;
  sample.permutation = Digits(shown.permutation);
  sample.expected = shown.expected;
  sample.latency_ms = Milliseconds(outcome.finished - outcome.sent);
  if (outcome.usage) {
    sample.prompt_tokens = outcome.usage->prompt_tokens;
    sample.output_tokens = outcome.usage->completion_tokens;
  }
  const std::string prompt = Render(plan_.prompt, question, shown.permutation);
  if (options_.include_text) {
    sample.prompt = prompt;
    sample.answer = outcome.content;
  }
  sample.error =
      options_.include_text ? std::move(outcome.error) : WithoutQuestion(std::move(outcome.error), prompt);
  if (!sample.error.empty()) return sample;

  sample.answer_hash = Sha256(outcome.reasoning + '\0' + outcome.content).substr(0, 16);
  sample.finish_reason = std::move(outcome.finish_reason);
  sample.strict = GradeStrict(outcome.content).letter;  // the reasoning is never graded
  sample.compat = GradeCompat(outcome.content).letter;
  sample.correct = (options_.grader == "strict" ? sample.strict : sample.compat) == sample.expected;
  return sample;
}

}  // namespace assay::evals
