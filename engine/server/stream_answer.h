#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/server/answer.h"
#include "engine/server/chunk_template.h"

namespace assay::engine {

nlohmann::json LogprobsJson(Endpoint endpoint, const std::vector<wire::PositionLogprobs>& positions);

// As vLLM streams: for each choice a role chunk with its first token (chat), one chunk for each token that
// gives text, a chunk with the finish reason; then usage if asked for, and [DONE]. While the reader is
// behind, tokens wait and share a chunk, so that a slow reader costs the text of its answer and not a JSON
// frame for each token.
class StreamAnswer final : public Answer {
 public:
  StreamAnswer(std::shared_ptr<Exchange> exchange, const AnswerFormat& format);

  void Add(size_t choice, TextDelta delta, const wire::Usage& so_far) override;
  void Finish(size_t choice, const ChoiceEnd& end, const wire::Usage& so_far) override;
  void Close(const wire::Usage& usage) override;
  void Fail(const wire::ErrorBody& error) override;

 private:
  struct Choice {
    bool begun = false;
    TextDelta waiting;
    std::optional<ChunkTemplate> content, reasoning;
  };

  wire::StreamChunk Empty(size_t choice) const;
  nlohmann::json Json(const wire::StreamChunk& chunk) const;
  void Begin(size_t choice, const wire::Usage& so_far);
  void Chunk(wire::StreamChunk chunk, const wire::Usage& usage);
  void Texts(size_t choice, const wire::Usage& usage);
  void PlainTexts(size_t choice, const TextDelta& delta);
  void Send();
  void End();

  std::shared_ptr<Exchange> exchange_;
  AnswerFormat format_;
  bool begun_ = false;
  std::vector<Choice> choices_;
  std::string event_;
};

}  // namespace assay::engine
