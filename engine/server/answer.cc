#include "engine/server/answer.h"

#include <optional>
#include <utility>

#include "engine/server/chunk_template.h"
#include "engine/server/errors.h"
#include "wire/sse.h"

namespace assay::engine {
namespace {

constexpr std::string_view kDone = "data: [DONE]\n\n";

class WholeAnswer final : public Answer {
 public:
  WholeAnswer(std::shared_ptr<Exchange> exchange, AnswerFormat format)
      : exchange_(std::move(exchange)), format_(std::move(format)) {}

  void Add(const TextDelta& delta, const wire::Usage&) override {
    completion_.reasoning += delta.reasoning;
    completion_.content += delta.content;
  }

  void Finish(const std::string& reason, const wire::Usage& usage) override {
    completion_.finish_reason = reason;
    completion_.usage = usage;
    HttpResponse response;
    response.body = wire::JsonText(format_.endpoint == Endpoint::kChat
                                       ? wire::ChatResponseJson(format_.head, completion_)
                                       : wire::CompletionResponseJson(format_.head, completion_));
    exchange_->Respond(response);
  }

  void Fail(const wire::ErrorBody& error) override { exchange_->Respond(ErrorResponse(error)); }

 private:
  std::shared_ptr<Exchange> exchange_;
  AnswerFormat format_;
  wire::Completion completion_;
};

// As vLLM streams: a role chunk with the first token (chat), one chunk for each token that gives text, a
// chunk with the finish reason, usage if asked for, [DONE]. While the reader is behind, tokens wait and share
// a chunk, so that a slow reader costs the text of its answer and not a JSON frame for each token.
class StreamAnswer final : public Answer {
 public:
  StreamAnswer(std::shared_ptr<Exchange> exchange, AnswerFormat format)
      : exchange_(std::move(exchange)), format_(std::move(format)) {
    if (format_.stream_options.continuous_usage_stats) return;
    content_.emplace([this](const std::string& text) { return Json(WithContent(text)); });
    if (format_.endpoint != Endpoint::kChat) return;
    reasoning_.emplace([this](const std::string& text) { return Json(WithReasoning(text)); });
  }

  void Add(const TextDelta& delta, const wire::Usage& so_far) override {
    Begin(so_far);
    waiting_.reasoning += delta.reasoning;
    waiting_.content += delta.content;
    if (exchange_->Congested()) return;
    Texts(so_far);
    Send();
  }

  void Finish(const std::string& reason, const wire::Usage& usage) override {
    Begin(usage);
    Texts(usage);
    wire::StreamChunk last = WithContent("");
    last.finish_reason = reason;
    Chunk(std::move(last), usage);
    if (format_.stream_options.include_usage) {
      wire::StreamChunk chunk;
      chunk.usage = usage;
      event_ += wire::SseData(wire::JsonText(Json(chunk)));
    }
    End();
  }

  void Fail(const wire::ErrorBody& error) override {
    if (!begun_) return exchange_->Respond(ErrorResponse(error));
    event_ += wire::SseData(wire::JsonText(wire::ToJson(error)));
    End();
  }

 private:
  static wire::StreamChunk WithContent(const std::string& text) {
    wire::StreamChunk chunk;
    chunk.has_choice = true;
    chunk.content = text;
    return chunk;
  }

  static wire::StreamChunk WithReasoning(const std::string& text) {
    wire::StreamChunk chunk;
    chunk.has_choice = true;
    chunk.reasoning = text;
    return chunk;
  }

  nlohmann::json Json(const wire::StreamChunk& chunk) const {
    return format_.endpoint == Endpoint::kChat ? wire::ChatChunkJson(format_.head, chunk)
                                               : wire::CompletionChunkJson(format_.head, chunk);
  }

  void Begin(const wire::Usage& so_far) {
    if (std::exchange(begun_, true)) return;
    exchange_->BeginStream();
    if (format_.endpoint != Endpoint::kChat) return;
    wire::StreamChunk role = WithContent("");
    role.role = "assistant";
    wire::Usage none = so_far;
    none.completion_tokens = 0;
    Chunk(std::move(role), none);
  }

  void Chunk(wire::StreamChunk chunk, const wire::Usage& usage) {
    if (format_.stream_options.continuous_usage_stats) chunk.usage = usage;
    event_ += wire::SseData(wire::JsonText(Json(chunk)));
  }

  void Texts(const wire::Usage& usage) {
    const TextDelta delta = std::exchange(waiting_, {});
    if (!delta.reasoning.empty()) Text(reasoning_, delta.reasoning, WithReasoning, usage);
    if (!delta.content.empty()) Text(content_, delta.content, WithContent, usage);
  }

  void Text(const std::optional<ChunkTemplate>& fast, const std::string& text,
            wire::StreamChunk (*make)(const std::string&), const wire::Usage& usage) {
    if (fast) return fast->AppendEvent(event_, text);
    Chunk(make(text), usage);
  }

  void Send() {
    exchange_->Write(event_);
    event_.clear();
  }

  void End() {
    event_ += kDone;
    Send();
    exchange_->EndStream();
  }

  std::shared_ptr<Exchange> exchange_;
  AnswerFormat format_;
  std::optional<ChunkTemplate> content_, reasoning_;  // none when every chunk carries its own usage
  bool begun_ = false;
  TextDelta waiting_;
  std::string event_;
};

}  // namespace

std::unique_ptr<Answer> Answer::Make(std::shared_ptr<Exchange> exchange, const AnswerFormat& format) {
  if (format.stream) return std::make_unique<StreamAnswer>(std::move(exchange), format);
  return std::make_unique<WholeAnswer>(std::move(exchange), format);
}

}  // namespace assay::engine
