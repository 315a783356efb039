#include "engine/server/answer.h"

#include <gtest/gtest.h>

#include "wire/sse.h"

namespace assay::engine {
namespace {

// Keeps what is written; a test says whether its reader is behind.
class FakeExchange final : public Exchange {
 public:
  void Respond(const HttpResponse& response) override { body += response.body; }
  void BeginStream() override {}
  void Write(std::string_view bytes) override { body += bytes; }
  void EndStream() override { ended = true; }
  bool Congested() const override { return congested; }
  void OnGone(std::function<void()>) override {}

  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    wire::SseDecoder().Feed(body, [&](const wire::SseEvent& event) {
      const auto chunk = wire::ParseCompletionChunk(event.data);
      if (chunk && !chunk->content.empty()) texts.push_back(chunk->content);
    });
    return texts;
  }

  bool congested = false;
  bool ended = false;
  std::string body;
};

TextDelta Text(const std::string& content) {
  TextDelta delta;
  delta.content = content;
  return delta;
}

TEST(StreamAnswer, TokensShareAChunkWhileTheReaderIsBehind) {
  const auto exchange = std::make_shared<FakeExchange>();
  AnswerFormat format;
  format.endpoint = Endpoint::kCompletion;
  format.stream = true;
  const auto answer = Answer::Make(exchange, format);
  answer->Add(0, Text("a"), {});
  exchange->congested = true;
  answer->Add(0, Text("b"), {});
  answer->Add(0, Text("c"), {});
  EXPECT_EQ(exchange->Texts(), (std::vector<std::string>{"a"}));
  exchange->congested = false;
  answer->Add(0, Text("d"), {});
  EXPECT_EQ(exchange->Texts(), (std::vector<std::string>{"a", "bcd"}));
  exchange->congested = true;
  answer->Add(0, Text("e"), {});
  answer->Finish(0, {"stop"}, {});
  answer->Close({});
  EXPECT_EQ(exchange->Texts(), (std::vector<std::string>{"a", "bcd", "e"}));
  EXPECT_TRUE(exchange->body.ends_with("data: [DONE]\n\n"));
  EXPECT_TRUE(exchange->ended);
}

}  // namespace
}  // namespace assay::engine
