#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evals/http/client.h"
#include "evals/progress.h"
#include "wire/chat.h"
#include "wire/plain_chunk.h"
#include "wire/sse.h"

namespace assay::evals {

using StreamKind = wire::ChunkKind;

// How a streamed request went. A time point that never came is TimePoint{}.
struct StreamOutcome {
  int status = 0;
  TimePoint sent{}, finished{};
  TimePoint first_chunk{};  // first chunk with choices, a mere role included: vLLM's clock for TTFT
  TimePoint first_reasoning{}, first_content{};
  TimePoint last_chunk{};             // last chunk with choices; usage and [DONE] do not extend it
  std::vector<float> chunk_gaps_ms;   // between consecutive chunks with choices
  std::vector<int32_t> chunk_tokens;  // of each chunk, where every one said how many (continuous usage)
  int64_t chunks = 0;                 // with choices
  int64_t token_chunks = 0;           // with text, or with neither role nor finish_reason
  std::string content, reasoning;
  std::string finish_reason;
  std::optional<wire::Usage> usage;
  bool saw_done = false;   // data: [DONE]
  std::string error;       // not empty: failed
  bool retryable = false;  // failed in transport (no timeout of ours) or with 5xx
};

// Reads one answer as it arrives. An error event fails the request though its status is 200; so does an end
// without finish_reason or [DONE], an answer without any chunk, and one that never ends an event or itself.
// The first error is kept.
class StreamReader {
 public:
  // Chunks must name `model`; "" takes any, and so does a chunk that names none.
  StreamReader(StreamKind kind, Progress& progress, std::string model = "")
      : kind_(kind), progress_(progress), model_(std::move(model)) {}

  // False: the answer has no sense left, and no more of it is wanted.
  bool Feed(std::string_view bytes, TimePoint arrived);
  StreamOutcome Finish(HttpResult result);

 private:
  void Event(std::string_view data, TimePoint arrived);
  void Chunk(const wire::ChunkView& chunk, TimePoint arrived);
  void CountTokens(const wire::ChunkView& chunk);
  void Fail(std::string error, bool retryable);
  std::string NoChunkError() const;

  StreamKind kind_;
  Progress& progress_;
  std::string model_;
  wire::SseDecoder decoder_;
  StreamOutcome outcome_;
  int64_t events_ = 0;
  size_t bytes_ = 0;
  int64_t tokens_so_far_ = 0;  // as usage beside choices says
  std::string head_;           // start of the answer, for the error when it was no stream
};

// Starts a request whose answer is read by a StreamReader; counts it in progress.in_flight until `on_done`.
void StartStream(HttpClient& client, HttpRequest request, StreamKind kind, Progress& progress,
                 std::function<void(StreamOutcome)> on_done, std::string model = "");

}  // namespace assay::evals
