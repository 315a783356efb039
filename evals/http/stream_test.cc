#include "evals/http/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evals/http/request.h"
#include "testing/scripted_server.h"

namespace assay::evals {
namespace {

using assay::testing::ScriptedAnswer;
using assay::testing::ScriptedServer;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TimePoint At(int64_t ms) {
  return TimePoint{} + std::chrono::seconds(1) + milliseconds(ms);
}
std::string Data(const std::string& json) {
  return "data: " + json + "\n\n";
}
std::string Text(const std::string& text) {
  return Data(R"({"choices":[{"index":0,"text":")" + text + R"("}]})");
}
std::string Delta(const std::string& delta) {
  return Data(R"({"choices":[{"index":0,"delta":)" + delta + "}]}");
}
const std::string kEnd = R"({"choices":[{"index":0,"text":"","finish_reason":"stop"}]})";
const std::string kUsage = R"({"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5}})";

HttpResult Answered(int status = 200) {
  HttpResult result;
  result.status = status;
  result.sent = At(0);
  result.finished = At(900);
  return result;
}

struct Piece {
  int64_t ms;
  std::string bytes;
};

StreamOutcome Read(StreamKind kind, const std::vector<Piece>& pieces, HttpResult result = Answered()) {
  Progress progress;
  StreamReader reader(kind, progress);
  for (const Piece& piece : pieces) reader.Feed(piece.bytes, At(piece.ms));
  StreamOutcome outcome = reader.Finish(std::move(result));
  EXPECT_EQ(progress.tokens, outcome.token_chunks);
  return outcome;
}

TEST(StreamReader, ClocksChunksWithChoicesOnly) {
  const StreamOutcome outcome =
      Read(StreamKind::kCompletions, {{500, Text("a")},
                                      {600, Text("b")},
                                      {800, Data(R"({"choices":[{"text":"c","finish_reason":"length"}]})")},
                                      {810, Data(kUsage)},
                                      {811, Data("[DONE]")}});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.first_chunk, At(500));
  EXPECT_EQ(outcome.last_chunk, At(800));
  EXPECT_THAT(outcome.chunk_gaps_ms, ElementsAre(100, 200));
  EXPECT_EQ(outcome.chunks, 3);
  EXPECT_EQ(outcome.token_chunks, 3);
  EXPECT_EQ(outcome.content, "abc");
  EXPECT_EQ(outcome.finish_reason, "length");
  EXPECT_EQ(outcome.usage->completion_tokens, 5);
  EXPECT_TRUE(outcome.saw_done);
}

TEST(StreamReader, HasClocksForReasoningAndContent) {
  const StreamOutcome outcome =
      Read(StreamKind::kChat, {{100, Delta(R"({"role":"assistant","content":""})")},
                               {200, Delta(R"({"reasoning":"so"})")},
                               {300, Delta(R"({"reasoning_content":" it is"})")},
                               {400, Delta(R"({"content":"Answer: B"})")},
                               {500, Data(R"({"choices":[{"delta":{},"finish_reason":"stop"}]})")}});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.first_chunk, At(100));
  EXPECT_EQ(outcome.first_reasoning, At(200));
  EXPECT_EQ(outcome.first_content, At(400));
  EXPECT_EQ(outcome.reasoning, "so it is");
  EXPECT_EQ(outcome.content, "Answer: B");
  EXPECT_EQ(outcome.token_chunks, 3) << "neither the role nor the end is a token";
}

// vLLM with stream_options.continuous_usage_stats: each chunk says how many tokens there are so far.
TEST(StreamReader, KnowsTheTokensOfEachChunkFromContinuousUsage) {
  const auto chunk = [](int64_t tokens) {
    return Data(R"({"choices":[{"text":"x"}],"usage":{"prompt_tokens":7,"completion_tokens":)" +
                std::to_string(tokens) + "}}");
  };
  EXPECT_THAT(Read(StreamKind::kCompletions, {{1, chunk(1)}, {2, chunk(4)}, {3, chunk(4)}, {4, Data(kUsage)}})
                  .chunk_tokens,
              ElementsAre(1, 3, 0));
  EXPECT_THAT(Read(StreamKind::kCompletions, {{1, Text("a")}, {2, chunk(4)}}).chunk_tokens, ElementsAre())
      << "one that does not say leaves the others without meaning";
  EXPECT_THAT(Read(StreamKind::kCompletions, {{1, chunk(1)}, {2, Text("a")}, {3, chunk(4)}}).chunk_tokens,
              ElementsAre());
}

TEST(StreamReader, GivesUpOnAnEventThatNeverEnds) {
  Progress progress;
  StreamReader reader(StreamKind::kCompletions, progress);
  const std::string garbage(1 << 20, 'x');
  int fed = 1;
  while (reader.Feed(garbage, At(1)) && fed < 100) ++fed;
  EXPECT_EQ(fed, 17);
  HttpResult ended = Answered();
  ended.error = "its reader wanted no more of the answer";
  EXPECT_EQ(reader.Finish(ended).error, "event 1 of the stream is larger than 16 MiB");
}

TEST(StreamReader, CountsTokensWithoutText) {
  const StreamOutcome outcome =
      Read(StreamKind::kCompletions, {{1, Text("")}, {2, Text("")}, {3, Data(kEnd)}});
  EXPECT_EQ(outcome.token_chunks, 2);
}

TEST(StreamReader, FailsOnAnErrorInsideTheStream) {
  const StreamOutcome outcome =
      Read(StreamKind::kCompletions, {{1, Text("a")},
                                      {2, Data(R"({"error":{"code":500,"message":"KV cache is full"}})")},
                                      {3, Data("[DONE]")}});
  EXPECT_EQ(outcome.error, "error inside the stream: KV cache is full");
  EXPECT_TRUE(outcome.retryable);
}

TEST(StreamReader, FailsWhenAnotherModelAnswers) {
  const std::string other = Data(R"({"model":"other","choices":[{"text":"a","finish_reason":"stop"}]})");
  const std::string nameless = Data(R"({"choices":[{"text":"a","finish_reason":"stop"}]})");
  const auto error = [](const std::string& bytes) {
    Progress progress;
    StreamReader reader(StreamKind::kCompletions, progress, "asked");
    reader.Feed(bytes, At(1));
    return reader.Finish(Answered()).error;
  };
  EXPECT_EQ(error(other), "answered by the model other, not by asked");
  EXPECT_EQ(error(nameless), "");
}

TEST(StreamReader, AClientErrorInsideTheStreamIsFinal) {
  const StreamOutcome outcome =
      Read(StreamKind::kCompletions, {{1, Data(R"({"error":{"code":400,"message":"bad seed"}})")}});
  EXPECT_EQ(outcome.error, "error inside the stream: bad seed");
  EXPECT_FALSE(outcome.retryable);
}

TEST(StreamReader, FailsWhenTheEndIsMissing) {
  const StreamOutcome outcome = Read(StreamKind::kCompletions, {{1, Text("a")}, {2, Text("b")}});
  EXPECT_EQ(outcome.error, "the stream was cut after 2 chunks: no finish_reason and no [DONE]");
  EXPECT_TRUE(outcome.retryable);
}

TEST(StreamReader, EitherEndWillDo) {
  EXPECT_EQ(Read(StreamKind::kCompletions, {{1, Text("a")}, {2, Data(kEnd)}}).error, "");
  EXPECT_EQ(Read(StreamKind::kCompletions, {{1, Text("a")}, {2, Data("[DONE]")}}).error, "");
}

TEST(StreamReader, NoChunkIsAFailure) {
  EXPECT_EQ(Read(StreamKind::kChat, {}).error, "the server ended the stream without a chunk");
  EXPECT_THAT(Read(StreamKind::kChat, {{1, Data("[DONE]")}}).error, HasSubstr("held no chunk with choices"));
  EXPECT_EQ(
      Read(StreamKind::kChat, {{1, R"({"choices":[{"message":{"content":"hi"}}]})"}}).error,
      R"(the answer held no chunk with choices; it begins: {"choices":[{"message":{"content":"hi"}}]})");
}

TEST(StreamReader, FailsOnAnEventThatIsNoChunk) {
  const StreamOutcome outcome =
      Read(StreamKind::kChat, {{1, Delta(R"({"content":"a"})")}, {2, Data("{oops")}, {3, Data("[DONE]")}});
  EXPECT_THAT(outcome.error, HasSubstr("event 2 of the stream: "));
  EXPECT_FALSE(outcome.retryable);
}

TEST(StreamReader, KeepsTheTextOfAnHttpError) {
  HttpResult result = Answered(400);
  result.body = R"({"error":{"message":"max_tokens is too large","code":400}})";
  const StreamOutcome outcome = Read(StreamKind::kChat, {}, result);
  EXPECT_EQ(outcome.error, "HTTP 400: max_tokens is too large");
  EXPECT_EQ(outcome.status, 400);
  EXPECT_FALSE(outcome.retryable);
  EXPECT_TRUE(Read(StreamKind::kChat, {}, Answered(503)).retryable);
}

TEST(StreamReader, RetriesLostConnectionsButNotTimeouts) {
  HttpResult result = Answered(0);
  result.error = "the connection was lost";
  EXPECT_TRUE(Read(StreamKind::kChat, {}, result).retryable);
  result.timed_out = true;
  EXPECT_FALSE(Read(StreamKind::kChat, {}, result).retryable);
}

TEST(StreamReader, AfterDoneTheConnectionMayDieAsItLikes) {
  HttpResult result = Answered();
  result.error = "the answer was cut";
  EXPECT_EQ(Read(StreamKind::kCompletions, {{1, Text("a")}, {2, Data("[DONE]")}}, result).error, "");
}

TEST(StreamReader, ReadsTheSameWhereverTheBytesAreCut) {
  const std::string stream = ": ping\n\n" + Text("caf\xC3\xA9  ") +
                             "event: message\r\ndata:" + R"({"choices":[{"text":" \u4e2d"}]})" +
                             "\r\n\r\nid: 7\n" + Data(kEnd) + Data(kUsage) + Data("[DONE]");
  for (size_t cut = 0; cut <= stream.size(); ++cut) {
    const StreamOutcome outcome =
        Read(StreamKind::kCompletions, {{1, stream.substr(0, cut)}, {2, stream.substr(cut)}});
    ASSERT_EQ(outcome.error, "") << cut;
    ASSERT_EQ(outcome.content, "caf\xC3\xA9   \xE4\xB8\xAD") << cut;
    ASSERT_EQ(outcome.chunks, 3) << cut;
    ASSERT_EQ(outcome.usage->completion_tokens, 5) << cut;
  }
}

class StreamFromServer : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = ScriptedServer::Start({});
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
  }

  StreamOutcome Ask(ScriptedAnswer answer, milliseconds idle_timeout = milliseconds(5000)) {
    server_->Queue(std::move(answer));
    HttpRequest request;
    request.url = JoinUrl(server_->BaseUrl() + "/", "/v1/completions");
    request.body = "{}";
    request.idle_timeout = idle_timeout;
    const auto client = NewCurlClient();
    StreamOutcome outcome;
    StartStream(*client, request, StreamKind::kCompletions, progress_,
                [&](StreamOutcome done) { outcome = std::move(done); });
    EXPECT_EQ(progress_.in_flight, 1);
    while (client->InFlight() > 0) client->Poll(milliseconds(20));
    EXPECT_EQ(progress_.in_flight, 0);
    return outcome;
  }

  std::unique_ptr<ScriptedServer> server_;
  Progress progress_;
};

// Exact times are StreamReader's tests; here a busy machine may deliver late.
TEST_F(StreamFromServer, TimesChunksWhenTheyArrive) {
  const StreamOutcome outcome = Ask(
      {.chunks = {
           {100, Text("a")}, {60, Text("b")}, {120, Text("c")}, {300, Data(kUsage)}, {0, Data("[DONE]")}}});
  EXPECT_EQ(outcome.error, "");
  EXPECT_NEAR(Milliseconds(outcome.first_chunk - outcome.sent), 100, 50);
  EXPECT_NEAR(Milliseconds(outcome.last_chunk - outcome.sent), 280, 50) << "usage comes 300 ms later";
  ASSERT_EQ(outcome.chunk_gaps_ms.size(), 2u);
  EXPECT_NEAR(outcome.chunk_gaps_ms[0] + outcome.chunk_gaps_ms[1],
              Milliseconds(outcome.last_chunk - outcome.first_chunk), 1e-3);
}

TEST_F(StreamFromServer, AStreamThatIsCutFails) {
  const StreamOutcome outcome = Ask({.chunks = {{0, Text("a")}}, .cut = true});
  EXPECT_THAT(outcome.error, HasSubstr("the answer was cut"));
  EXPECT_TRUE(outcome.retryable);
}

TEST_F(StreamFromServer, AStreamThatHangsFailsAtTheIdleTimeout) {
  const StreamOutcome outcome = Ask({.chunks = {{0, Text("a")}}, .never_end = true}, milliseconds(100));
  EXPECT_EQ(outcome.error, "no byte for 0.1 s (idle timeout)");
  EXPECT_FALSE(outcome.retryable);
}

TEST(RetryDelay, DoublesUpToEightSeconds) {
  EXPECT_EQ(RetryDelay(1), milliseconds(250));
  EXPECT_EQ(RetryDelay(2), milliseconds(500));
  EXPECT_EQ(RetryDelay(6), milliseconds(8000));
  EXPECT_EQ(RetryDelay(60), milliseconds(8000));
}

}  // namespace
}  // namespace assay::evals
