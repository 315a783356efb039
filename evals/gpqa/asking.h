#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evals/gpqa/gpqa.h"
#include "evals/gpqa/prompt.h"
#include "evals/http/request.h"
#include "evals/http/stream.h"

namespace assay::evals {

// What is to be asked, settled before the first request.
struct GpqaPlan {
  std::vector<Question> questions;
  PromptTemplate prompt;
  std::vector<Shown> samples;
  std::vector<size_t> order;  // of asking, indices into samples
};

// Keeps a window of requests in flight until every planned sample has its answer or its last failure, or
// `decided` says that enough are in.
class Asking {
 public:
  using Decided = std::function<bool(std::vector<record::QuestionSample> part)>;

  Asking(const std::string& base_url, const GpqaOptions& options, const GpqaPlan& plan, Progress& progress,
         const GpqaHooks& hooks, std::vector<int64_t> looks, Decided decided);

  // Takes over what an earlier attempt asked. An error when it asked something else.
  Status Keep(const std::vector<record::QuestionSample>& kept);
  void Run();

  // In planned order, whatever finished first. After an early end only those of the part that decided.
  std::vector<record::QuestionSample> TakeSamples();
  bool StoppedEarly() const { return part_.has_value(); }
  int64_t Sent() const { return sent_; }

 private:
  struct Retry {
    TimePoint due;
    size_t index;
    int retry;
  };

  bool Over() const {
    return progress_.stop || answered_ == samples_.size() || part_.has_value() || IsHopeless();
  }
  bool IsHopeless() const;
  bool StartNext();
  std::chrono::microseconds UntilNextRetry() const;
  void Ask(size_t index, int retry);
  wire::ChatRequest ChatRequestOf(size_t index) const;
  void Answered(size_t index, int retry, StreamOutcome outcome);
  void Take(size_t index, record::QuestionSample sample);
  void LookAtPart();
  std::vector<record::QuestionSample> First(size_t count) const;
  record::QuestionSample SampleOf(size_t index, StreamOutcome outcome) const;

  const GpqaOptions& options_;
  const GpqaPlan& plan_;
  Progress& progress_;
  const GpqaHooks& hooks_;
  const std::vector<int64_t> looks_;
  const Decided decided_;
  const StreamKind kind_;
  const std::string url_;
  std::unique_ptr<HttpClient> client_;
  std::vector<std::optional<record::QuestionSample>> samples_;  // as planned
  std::vector<Retry> retries_;
  size_t next_ = 0;      // in the order of asking
  size_t answered_ = 0;  // of all
  size_t failed_ = 0;
  size_t leading_ = 0;  // the first so many in the order of asking are answered
  std::optional<size_t> part_;
  int64_t sent_ = 0;
  bool stopped_ = false;
};

// What a server repeats of a question in an error is left out.
std::string WithoutQuestion(std::string text, std::string_view prompt);

}  // namespace assay::evals
