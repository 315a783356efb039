#pragma once

#include <memory>
#include <string>

#include "engine/server/http_message.h"
#include "engine/server/token_text.h"
#include "wire/chat.h"

namespace assay::engine {

enum class Endpoint { kChat, kCompletion };

struct AnswerFormat {
  Endpoint endpoint = Endpoint::kChat;
  bool stream = false;
  wire::StreamOptions stream_options;
  wire::ResponseHead head;
};

// How one generation reaches its client: as a stream of chunks, or whole at the end. Add for what each token
// gives (also when that is no text), then Finish or Fail once.
class Answer {
 public:
  static std::unique_ptr<Answer> Make(std::shared_ptr<Exchange> exchange, const AnswerFormat& format);
  virtual ~Answer() = default;
  virtual void Add(const TextDelta& delta, const wire::Usage& so_far) = 0;
  virtual void Finish(const std::string& reason, const wire::Usage& usage) = 0;
  virtual void Fail(const wire::ErrorBody& error) = 0;
};

}  // namespace assay::engine
