#include "evals/serving/load.h"

#include <algorithm>
#include <utility>

namespace assay::evals {
namespace {

using record::RequestTiming;
using OnRequest = std::function<void(const RequestTiming&)>;

constexpr std::chrono::microseconds kLookAtStopEvery(50000);

class Driver {
 public:
  Driver(HttpClient& client, LoadPlan plan, Progress& progress, const OnRequest& on_request)
      : client_(client),
        plan_(std::move(plan)),
        progress_(progress),
        on_request_(on_request),
        timings_(plan_.requests.size()),
        texts_(plan_.keep_texts ? plan_.requests.size() : 0) {}

  LoadResult Run() {
    start_ = place_free_ = RealClock().Now();
    while (!progress_.stop && finished_ < plan_.requests.size()) {
      // Each request is on its way before the next one is looked at.
      while (SendNext()) client_.Poll(std::chrono::microseconds(0));
      client_.Poll(UntilNextSend());
    }
    result_.duration_s = Since(RealClock().Now());
    result_.complete = finished_ == plan_.requests.size();
    stopped_ = true;
    client_.CancelAll("stopped");
    for (size_t i = 0; i < timings_.size(); ++i) {
      if (!timings_[i]) continue;
      result_.requests.push_back(std::move(*timings_[i]));
      if (plan_.keep_texts) result_.texts.push_back(std::move(texts_[i]));
    }
    return std::move(result_);
  }

 private:
  double Since(TimePoint at) const { return Seconds(at - start_); }

  bool PlaceFree() const {
    return !plan_.max_concurrency || sent_ - finished_ < static_cast<size_t>(*plan_.max_concurrency);
  }

  TimePoint Planned(size_t index) const {
    return start_ + std::chrono::round<Nanoseconds>(std::chrono::duration<double>(plan_.planned_s[index]));
  }

  bool SendNext() {
    if (sent_ == plan_.requests.size() || !PlaceFree() || RealClock().Now() < Planned(sent_)) return false;
    const size_t index = sent_++;
    const TimePoint due = std::max(Planned(index), plan_.max_concurrency ? place_free_ : start_);
    HttpRequest request;
    request.url = plan_.url;
    request.body = std::move(plan_.requests[index].body);
    request.headers = plan_.headers;
    request.total_timeout = plan_.request_timeout;
    request.idle_timeout = plan_.idle_timeout;
    StartStream(
        client_, std::move(request), plan_.kind, progress_,
        [this, index](StreamOutcome outcome) { Finished(index, std::move(outcome)); }, plan_.model);
    result_.send_lags_ms.push_back(Milliseconds(RealClock().Now() - due));
    return true;
  }

  std::chrono::microseconds UntilNextSend() const {
    if (sent_ == plan_.requests.size() || !PlaceFree()) return kLookAtStopEvery;
    const auto left = std::chrono::ceil<std::chrono::microseconds>(Planned(sent_) - RealClock().Now());
    return std::clamp(left, std::chrono::microseconds(0), kLookAtStopEvery);
  }

  void Finished(size_t index, StreamOutcome outcome) {
    if (stopped_) return;
    if (!PlaceFree()) place_free_ = outcome.finished;
    ++finished_;
    ++progress_.done;
    if (plan_.keep_texts) texts_[index] = outcome.reasoning + outcome.content;
    timings_[index] = TimingOf(index, std::move(outcome));
    if (on_request_) on_request_(*timings_[index]);
  }

  RequestTiming TimingOf(size_t index, StreamOutcome outcome) const {
    RequestTiming timing;
    timing.index = static_cast<int64_t>(index);
    timing.planned_s = plan_.planned_s[index];
    timing.sent_s = Since(outcome.sent);
    if (outcome.chunks > 0) {
      timing.first_chunk_s = Since(outcome.first_chunk);
      timing.last_chunk_s = Since(outcome.last_chunk);
    }
    if (outcome.first_reasoning != TimePoint{}) timing.first_reasoning_s = Since(outcome.first_reasoning);
    if (outcome.first_content != TimePoint{}) timing.first_content_s = Since(outcome.first_content);
    timing.chunk_gaps_ms = std::move(outcome.chunk_gaps_ms);
    timing.chunk_tokens = std::move(outcome.chunk_tokens);
    timing.chunks = outcome.chunks;
    timing.finish_reason = std::move(outcome.finish_reason);
    timing.error = std::move(outcome.error);
    timing.prompt_tokens = plan_.requests[index].prompt_tokens;
    timing.asked_tokens = plan_.requests[index].asked_tokens;
    timing.output_tokens = outcome.token_chunks;
    if (outcome.usage && outcome.usage->completion_tokens > 0) {
      timing.output_tokens = outcome.usage->completion_tokens;
      timing.output_tokens_from_usage = true;
    }
    if (outcome.usage) {
      if (outcome.usage->prompt_tokens > 0) timing.prompt_tokens = outcome.usage->prompt_tokens;
      timing.cached_tokens = outcome.usage->cached_tokens;
    }
    return timing;
  }

  HttpClient& client_;
  LoadPlan plan_;
  Progress& progress_;
  const OnRequest& on_request_;
  LoadResult result_;
  std::vector<std::optional<RequestTiming>> timings_;
  std::vector<std::string> texts_;
  TimePoint start_{};
  TimePoint place_free_{};  // when the last request that others waited for ended
  size_t sent_ = 0, finished_ = 0;
  bool stopped_ = false;
};

}  // namespace

LoadResult DriveLoad(HttpClient& client, LoadPlan plan, Progress& progress, const OnRequest& on_request) {
  return Driver(client, std::move(plan), progress, on_request).Run();
}

}  // namespace assay::evals
