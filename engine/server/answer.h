#pragma once

#include <memory>
#include <string>

#include "engine/server/choice_text.h"
#include "engine/server/http_message.h"
#include "wire/chat.h"
#include "wire/responses.h"

namespace assay::engine {

enum class Endpoint { kChat, kCompletion };

struct AnswerFormat {
  Endpoint endpoint = Endpoint::kChat;
  bool stream = false;
  wire::StreamOptions stream_options;
  wire::ResponseHead head;
  size_t choices = 1;
};

struct ChoiceEnd {
  std::string finish_reason;
  nlohmann::json stop_reason = nullptr;  // the stop string or stop token id that ended it
};

// How generations reach the client that asked for them: as a stream, or whole at the end. Add for what each
// token gives a choice (also when that is no text), Finish once for each choice, then Close; or Fail.
class Answer {
 public:
  // Chat and completions.
  static std::unique_ptr<Answer> Make(std::shared_ptr<Exchange> exchange, const AnswerFormat& format);
  // /v1/responses.
  static std::unique_ptr<Answer> MakeResponse(std::shared_ptr<Exchange> exchange, wire::Response response,
                                              bool stream);
  virtual ~Answer() = default;

  // Usage counts the whole prompt, and the tokens of this choice.
  virtual void Add(size_t choice, TextDelta delta, const wire::Usage& so_far) = 0;
  virtual void Finish(size_t choice, const ChoiceEnd& end, const wire::Usage& so_far) = 0;
  // Usage counts all choices.
  virtual void Close(const wire::Usage& usage) = 0;
  virtual void Fail(const wire::ErrorBody& error) = 0;
};

}  // namespace assay::engine
