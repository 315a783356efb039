#include "evals/http/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/text.h"
#include "wire/responses.h"

namespace assay::evals {
namespace {

constexpr size_t kHeadBytes = 200;
constexpr size_t kEventLimit = size_t{16} << 20;
constexpr size_t kAnswerLimit = size_t{1} << 30;

Result<wire::StreamChunk> ParseEvent(StreamKind kind, std::string_view data) {
  switch (kind) {
    case StreamKind::kChat:
      return wire::ParseChatChunk(data);
    case StreamKind::kCompletions:
      return wire::ParseCompletionChunk(data);
    case StreamKind::kResponses:
      return wire::ParseResponsesChunk(data);
  }
  return wire::StreamChunk{};
}

void SetOnce(TimePoint& at, TimePoint arrived) {
  if (at == TimePoint{}) at = arrived;
}

}  // namespace

bool StreamReader::Feed(std::string_view bytes, TimePoint arrived) {
  if (events_ == 0 && head_.size() < kHeadBytes) head_.append(bytes.substr(0, kHeadBytes - head_.size()));
  decoder_.Feed(bytes, [&](const wire::SseEvent& event) { Event(event.data, arrived); });
  bytes_ += bytes.size();
  if (decoder_.Pending() > kEventLimit) {
    Fail(fmt::format("event {} of the stream is larger than {} MiB", events_ + 1, kEventLimit >> 20), false);
  } else if (bytes_ > kAnswerLimit) {
    Fail(fmt::format("the answer is larger than {} MiB", kAnswerLimit >> 20), false);
  } else {
    return true;
  }
  return false;
}

void StreamReader::Event(std::string_view data, TimePoint arrived) {
  ++events_;
  if (Trim(data) == "[DONE]") {
    outcome_.saw_done = true;
    return;
  }
  wire::ChunkView plain;
  if (wire::ReadPlainChunk(data, kind_, &plain)) return Chunk(plain, arrived);
  const auto chunk = ParseEvent(kind_, data);
  if (!chunk)
    Fail(fmt::format("event {} of the stream: {}", events_, chunk.error().message), false);
  else if (chunk->error)
    Fail(fmt::format("error inside the stream: {}", chunk->error->message), chunk->error->status >= 500);
  else
    Chunk(wire::ViewOf(*chunk), arrived);
  if (chunk && chunk->whole_content && outcome_.content.empty()) outcome_.content = *chunk->whole_content;
}

void StreamReader::Chunk(const wire::ChunkView& chunk, TimePoint arrived) {
  if (!model_.empty() && !chunk.model.empty() && chunk.model != model_) {
    Fail(fmt::format("answered by the model {}, not by {}", chunk.model, model_), false);
  }
  if (chunk.usage) outcome_.usage = chunk.usage;
  if (!chunk.has_choice) return;

  if (outcome_.chunks++ == 0)
    outcome_.first_chunk = arrived;
  else
    outcome_.chunk_gaps_ms.push_back(static_cast<float>(Milliseconds(arrived - outcome_.last_chunk)));
  outcome_.last_chunk = arrived;
  CountTokens(chunk);
  if (!chunk.finish_reason.empty()) outcome_.finish_reason = chunk.finish_reason;
  if (!chunk.reasoning.empty()) SetOnce(outcome_.first_reasoning, arrived);
  if (!chunk.content.empty()) SetOnce(outcome_.first_content, arrived);
  outcome_.reasoning += chunk.reasoning;
  outcome_.content += chunk.content;

  // A token may have no text of its own (half a character): only role and end chunks are known to hold none.
  const bool text = !chunk.reasoning.empty() || !chunk.content.empty();
  if (!text && (!chunk.role.empty() || !chunk.finish_reason.empty())) return;
  ++outcome_.token_chunks;
  ++progress_.tokens;
}

void StreamReader::CountTokens(const wire::ChunkView& chunk) {
  const bool every_chunk_so_far = outcome_.chunk_tokens.size() + 1 == static_cast<size_t>(outcome_.chunks);
  if (!chunk.usage || !every_chunk_so_far) return;
  const int64_t fresh = chunk.usage->completion_tokens - tokens_so_far_;
  tokens_so_far_ = chunk.usage->completion_tokens;
  outcome_.chunk_tokens.push_back(static_cast<int32_t>(std::clamp<int64_t>(fresh, 0, INT32_MAX)));
}

void StreamReader::Fail(std::string error, bool retryable) {
  if (!outcome_.error.empty()) return;
  outcome_.error = std::move(error);
  outcome_.retryable = retryable;
}

std::string StreamReader::NoChunkError() const {
  if (head_.empty()) return "the server ended the stream without a chunk";
  return fmt::format("the answer held no chunk with choices; it begins: {}", Printable(Trim(head_)));
}

StreamOutcome StreamReader::Finish(HttpResult result) {
  outcome_.status = result.status;
  outcome_.sent = result.sent;
  outcome_.finished = result.finished;
  if (outcome_.chunk_tokens.size() != static_cast<size_t>(outcome_.chunks)) outcome_.chunk_tokens.clear();
  const bool whole = outcome_.saw_done || !outcome_.finish_reason.empty();
  // After the stream's own end it does not matter how the connection went down.
  if (!result.error.empty() && !outcome_.saw_done)
    Fail(std::move(result.error), !result.timed_out);
  else if (!result.ok() && !outcome_.saw_done)
    Fail(fmt::format("HTTP {}: {}", result.status, wire::ErrorMessage(result.body)), result.status >= 500);
  else if (outcome_.chunks == 0)
    Fail(NoChunkError(), false);
  else if (!whole)
    Fail(fmt::format("the stream was cut after {} chunks: no finish_reason and no [DONE]", outcome_.chunks),
         true);
  return std::move(outcome_);
}

void StartStream(HttpClient& client, HttpRequest request, StreamKind kind, Progress& progress,
                 std::function<void(StreamOutcome)> on_done, std::string model) {
  const auto reader = std::make_shared<StreamReader>(kind, progress, std::move(model));
  ++progress.in_flight;
  client.Start(
      std::move(request),
      [reader](std::string_view bytes, TimePoint arrived) { return reader->Feed(bytes, arrived); },
      [reader, &progress, on_done = std::move(on_done)](HttpResult result) {
        --progress.in_flight;
        on_done(reader->Finish(std::move(result)));
      });
}

}  // namespace assay::evals
