#include "engine/server/answer.h"

#include <utility>

#include "engine/server/errors.h"
#include "engine/server/stream_answer.h"

namespace assay::engine {
namespace {

void Append(std::vector<wire::ToolCall>& calls, std::vector<wire::ToolCallDelta>& pieces) {
  for (wire::ToolCallDelta& piece : pieces) {
    if (!piece.id.empty()) calls.push_back({std::move(piece.id), std::move(piece.name), ""});
    calls.back().arguments += piece.arguments;
  }
}

class WholeAnswer final : public Answer {
 public:
  WholeAnswer(std::shared_ptr<Exchange> exchange, const AnswerFormat& format)
      : exchange_(std::move(exchange)),
        format_(format),
        choices_(format.choices),
        logprobs_(format.choices) {}

  void Add(size_t choice, TextDelta delta, const wire::Usage&) override {
    wire::Choice& out = choices_[choice];
    out.reasoning += delta.reasoning;
    out.content += delta.content;
    Append(out.tool_calls, delta.calls);
    std::move(delta.logprobs.begin(), delta.logprobs.end(), std::back_inserter(logprobs_[choice]));
  }

  void Finish(size_t choice, const ChoiceEnd& end, const wire::Usage&) override {
    wire::Choice& out = choices_[choice];
    out.finish_reason = end.finish_reason;
    out.stop_reason = end.stop_reason;
    if (!logprobs_[choice].empty()) out.logprobs = LogprobsJson(format_.endpoint, logprobs_[choice]);
  }

  void Close(const wire::Usage& usage) override {
    HttpResponse response;
    response.body = wire::JsonText(format_.endpoint == Endpoint::kChat
                                       ? wire::ChatResponseJson(format_.head, choices_, usage)
                                       : wire::CompletionResponseJson(format_.head, choices_, usage));
    exchange_->Respond(response);
  }

  void Fail(const wire::ErrorBody& error) override { exchange_->Respond(ErrorResponse(error)); }

 private:
  std::shared_ptr<Exchange> exchange_;
  AnswerFormat format_;
  std::vector<wire::Choice> choices_;
  std::vector<std::vector<wire::PositionLogprobs>> logprobs_;
};

}  // namespace

nlohmann::json LogprobsJson(Endpoint endpoint, const std::vector<wire::PositionLogprobs>& positions) {
  return endpoint == Endpoint::kChat ? wire::ChatLogprobsJson(positions)
                                     : wire::CompletionLogprobsJson(positions);
}

std::unique_ptr<Answer> Answer::Make(std::shared_ptr<Exchange> exchange, const AnswerFormat& format) {
  if (format.stream) return std::make_unique<StreamAnswer>(std::move(exchange), format);
  return std::make_unique<WholeAnswer>(std::move(exchange), format);
}

}  // namespace assay::engine
