#include "engine/server/stream_answer.h"

#include <utility>

#include "engine/server/errors.h"
#include "wire/sse.h"

namespace assay::engine {
namespace {

constexpr std::string_view kDone = "data: [DONE]\n\n";

}  // namespace

StreamAnswer::StreamAnswer(std::shared_ptr<Exchange> exchange, const AnswerFormat& format)
    : exchange_(std::move(exchange)), format_(format), choices_(format.choices) {}

void StreamAnswer::Add(size_t choice, TextDelta delta, const wire::Usage& so_far) {
  Begin(choice, so_far);
  choices_[choice].waiting.Append(std::move(delta));
  if (exchange_->Congested()) return;
  Texts(choice, so_far);
  Send();
}

void StreamAnswer::Finish(size_t choice, const ChoiceEnd& end, const wire::Usage& so_far) {
  Begin(choice, so_far);
  Texts(choice, so_far);
  wire::StreamChunk last = Empty(choice);
  TextDelta& silent = choices_[choice].waiting;  // logprobs of tokens without text
  if (!silent.logprobs.empty()) last.logprobs = LogprobsJson(format_.endpoint, silent.logprobs);
  last.finish_reason = end.finish_reason;
  last.stop_reason = end.stop_reason;
  Chunk(std::move(last), so_far);
  choices_[choice] = {true, {}, {}, {}};
  Send();
}

void StreamAnswer::Close(const wire::Usage& usage) {
  if (format_.stream_options.include_usage) {
    wire::StreamChunk chunk;
    chunk.usage = usage;
    event_ += wire::SseData(wire::JsonText(Json(chunk)));
  }
  End();
}

void StreamAnswer::Fail(const wire::ErrorBody& error) {
  if (!begun_) return exchange_->Respond(ErrorResponse(error));
  event_ += wire::SseData(wire::JsonText(wire::ToJson(error)));
  End();
}

wire::StreamChunk StreamAnswer::Empty(size_t choice) const {
  wire::StreamChunk chunk;
  chunk.has_choice = true;
  chunk.index = static_cast<int64_t>(choice);
  return chunk;
}

nlohmann::json StreamAnswer::Json(const wire::StreamChunk& chunk) const {
  return format_.endpoint == Endpoint::kChat ? wire::ChatChunkJson(format_.head, chunk)
                                             : wire::CompletionChunkJson(format_.head, chunk);
}

void StreamAnswer::Begin(size_t choice, const wire::Usage& so_far) {
  if (!std::exchange(begun_, true)) exchange_->BeginStream();
  if (std::exchange(choices_[choice].begun, true) || format_.endpoint != Endpoint::kChat) return;
  wire::StreamChunk role = Empty(choice);
  role.role = "assistant";
  wire::Usage none = so_far;
  none.completion_tokens = 0;
  Chunk(std::move(role), none);
}

void StreamAnswer::Chunk(wire::StreamChunk chunk, const wire::Usage& usage) {
  if (format_.stream_options.continuous_usage_stats) chunk.usage = usage;
  event_ += wire::SseData(wire::JsonText(Json(chunk)));
}

// Sends what waits; logprobs wait on until there is text, which a client may be skipping chunks without.
void StreamAnswer::Texts(size_t choice, const wire::Usage& usage) {
  TextDelta& waiting = choices_[choice].waiting;
  if (waiting.reasoning.empty() && waiting.content.empty() && waiting.calls.empty()) return;
  TextDelta delta = std::exchange(waiting, {});
  const bool plain = delta.calls.empty() && delta.logprobs.empty();
  if (plain && !format_.stream_options.continuous_usage_stats) return PlainTexts(choice, delta);
  wire::StreamChunk chunk = Empty(choice);
  chunk.reasoning = std::move(delta.reasoning);
  chunk.content = std::move(delta.content);
  chunk.tool_calls = std::move(delta.calls);
  if (!delta.logprobs.empty()) chunk.logprobs = LogprobsJson(format_.endpoint, delta.logprobs);
  Chunk(std::move(chunk), usage);
}

void StreamAnswer::PlainTexts(size_t choice, const TextDelta& delta) {
  Choice& to = choices_[choice];
  if (!delta.reasoning.empty()) {
    if (!to.reasoning) {
      to.reasoning.emplace([&](const std::string& text) {
        wire::StreamChunk chunk = Empty(choice);
        chunk.reasoning = text;
        return Json(chunk);
      });
    }
    to.reasoning->AppendEvent(event_, delta.reasoning);
  }
  if (delta.content.empty()) return;
  if (!to.content) {
    to.content.emplace([&](const std::string& text) {
      wire::StreamChunk chunk = Empty(choice);
      chunk.content = text;
      return Json(chunk);
    });
  }
  to.content->AppendEvent(event_, delta.content);
}

void StreamAnswer::Send() {
  exchange_->Write(event_);
  event_.clear();
}

void StreamAnswer::End() {
  event_ += kDone;
  Send();
  exchange_->EndStream();
}

}  // namespace assay::engine
