#include <algorithm>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "evals/gpqa/gpqa.h"
#include "evals/http/request.h"
#include "evals/http/stream.h"

namespace assay::evals {
namespace {

using record::QuestionSample;
using OnSample = std::function<void(const QuestionSample&)>;

constexpr std::chrono::milliseconds kLookAtStopEvery(50);

// Keeps a window of requests in flight until every planned sample has its answer or its last failure.
class Asking {
 public:
  Asking(const std::string& base_url, const GpqaOptions& options, const std::vector<Question>& questions,
         const std::vector<Shown>& plan, Progress& progress, const OnSample& on_sample)
      : url_(JoinUrl(base_url, "/v1/chat/completions")),
        options_(options),
        questions_(questions),
        plan_(plan),
        progress_(progress),
        on_sample_(on_sample),
        client_(NewCurlClient()),
        samples_(plan.size()) {}

  void Run() {
    progress_.done = 0;
    progress_.planned = static_cast<int64_t>(plan_.size());
    while (!progress_.stop && answered_ < plan_.size()) {
      while (StartNext()) client_->Poll(std::chrono::microseconds(0));
      client_->Poll(UntilNextRetry());
    }
    stopped_ = true;  // what is still in flight was neither answered nor failed: it is not in the record
    client_->CancelAll("stopped");
  }

  // In planned order, whatever finished first.
  std::vector<QuestionSample> TakeSamples() {
    std::vector<QuestionSample> taken;
    for (auto& sample : samples_) {
      if (sample) taken.push_back(std::move(*sample));
    }
    return taken;
  }

 private:
  struct Retry {
    TimePoint due;
    size_t index;
    int retry;
  };

  bool StartNext() {
    if (client_->InFlight() >= static_cast<size_t>(options_.concurrency)) return false;
    const TimePoint now = RealClock().Now();
    const auto due =
        std::find_if(retries_.begin(), retries_.end(), [&](const Retry& r) { return r.due <= now; });
    if (due != retries_.end()) {
      const Retry retry = *due;
      retries_.erase(due);
      Ask(retry.index, retry.retry);
      return true;
    }
    if (next_ == plan_.size()) return false;
    Ask(next_++, 0);
    return true;
  }

  std::chrono::microseconds UntilNextRetry() const {
    TimePoint wake = RealClock().Now() + kLookAtStopEvery;
    for (const Retry& retry : retries_) wake = std::min(wake, retry.due);
    return std::max(std::chrono::microseconds(0),
                    std::chrono::ceil<std::chrono::microseconds>(wake - RealClock().Now()));
  }

  void Ask(size_t index, int retry) {
    HttpRequest request;
    request.url = url_;
    request.body = wire::ToJson(ChatRequestOf(index)).dump();
    request.total_timeout = Timeout(options_.request_timeout_s);
    request.idle_timeout = Timeout(options_.idle_timeout_s);
    StartStream(
        *client_, std::move(request), StreamKind::kChat, progress_,
        [this, index, retry](StreamOutcome outcome) { Answered(index, retry, std::move(outcome)); },
        options_.model);
  }

  wire::ChatRequest ChatRequestOf(size_t index) const {
    wire::ChatRequest request;
    request.model = options_.model;
    wire::ChatMessage message;
    message.role = "user";
    message.content = GptOssPrompt(questions_[plan_[index].question], plan_[index].permutation);
    request.messages.push_back(std::move(message));
    request.sampling.temperature = options_.temperature;
    request.sampling.max_tokens = options_.max_tokens;
    if (options_.sampling_seed) request.sampling.seed = *options_.sampling_seed + static_cast<int64_t>(index);
    request.reasoning_effort = options_.reasoning_effort;
    request.stream = true;
    request.stream_options.include_usage = true;
    return request;
  }

  void Answered(size_t index, int retry, StreamOutcome outcome) {
    if (stopped_) return;
    if (!outcome.error.empty() && outcome.retryable && retry < options_.retries) {
      retries_.push_back({RealClock().Now() + RetryDelay(retry + 1), index, retry + 1});
      return;
    }
    samples_[index] = SampleOf(plan_[index], std::move(outcome));
    ++answered_;
    ++progress_.done;
    if (on_sample_) on_sample_(*samples_[index]);
  }

  QuestionSample SampleOf(const Shown& shown, StreamOutcome outcome) const {
    const Question& question = questions_[shown.question];
    QuestionSample sample;
    sample.id = question.id;
    sample.repeat = shown.repeat;
    sample.domain = question.domain;
    sample.band = question.band;
    for (const int choice : shown.permutation) sample.permutation += static_cast<char>('0' + choice);
    sample.expected = shown.expected;
    sample.latency_ms = Milliseconds(outcome.finished - outcome.sent);
    if (outcome.usage) {
      sample.prompt_tokens = outcome.usage->prompt_tokens;
      sample.output_tokens = outcome.usage->completion_tokens;
    }
    sample.error = std::move(outcome.error);
    if (!sample.error.empty()) return sample;

    sample.finish_reason = std::move(outcome.finish_reason);
    sample.strict = GradeStrict(outcome.content);  // the reasoning is never graded
    sample.compat = GradeCompat(outcome.content);
    sample.correct = (options_.grader == "strict" ? sample.strict : sample.compat) == sample.expected;
    return sample;
  }

  const std::string url_;
  const GpqaOptions& options_;
  const std::vector<Question>& questions_;
  const std::vector<Shown>& plan_;
  Progress& progress_;
  const OnSample& on_sample_;
  std::unique_ptr<HttpClient> client_;
  std::vector<std::optional<QuestionSample>> samples_;
  std::vector<Retry> retries_;
  size_t next_ = 0, answered_ = 0;
  bool stopped_ = false;
};

Status CheckOptions(const GpqaOptions& options) {
  if (options.grader != "strict" && options.grader != "compat") {
    return Fail(ErrorKind::kUsage, "grader must be strict or compat, got '{}'", options.grader);
  }
  if (options.concurrency < 1) {
    return Fail(ErrorKind::kUsage, "concurrency must be at least 1, got {}", options.concurrency);
  }
  if (options.max_tokens < 1) {
    return Fail(ErrorKind::kUsage, "max_tokens must be at least 1, got {}", options.max_tokens);
  }
  return {};
}

}  // namespace

Result<record::AccuracyRecord> RunGpqa(const std::string& base_url, const GpqaOptions& options,
                                       Progress& progress, const OnSample& on_sample) {
  RETURN_IF_ERROR(CheckOptions(options));
  ASSIGN_OR_RETURN(const std::vector<Question> questions, LoadQuestions(options.dataset));
  auto plan = PlanSamples(questions, options.subset, options.repeats, options.seed);
  if (!plan) return FailWithin(options.dataset.string(), std::move(plan).error());

  record::AccuracyRecord accuracy;
  accuracy.dataset = options.dataset.filename().string();
  ASSIGN_OR_RETURN(accuracy.dataset_hash, Sha256File(options.dataset));
  accuracy.grader = options.grader;
  accuracy.prompt_template = "gpt-oss";
  accuracy.reasoning_effort = options.reasoning_effort;
  accuracy.repeats = options.repeats;
  accuracy.questions = options.subset.value_or(static_cast<int64_t>(questions.size()));
  accuracy.temperature = options.temperature;
  accuracy.max_tokens = options.max_tokens;
  accuracy.concurrency = options.concurrency;

  const TimePoint start = RealClock().Now();
  Asking asking(base_url, options, questions, *plan, progress, on_sample);
  asking.Run();
  accuracy.duration_s = Seconds(RealClock().Now() - start);
  accuracy.samples = asking.TakeSamples();
  accuracy.complete = accuracy.samples.size() == plan->size();
  return accuracy;
}

}  // namespace assay::evals
