#include "testing/scripted_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

// Asks over a bare socket: no HTTP library, so that the bytes are seen as they are.
namespace assay::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Exchange(int port, const std::string& request) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::send(fd, request.data(), request.size(), 0) == static_cast<ssize_t>(request.size())) {
    char bytes[4096];
    for (ssize_t n; (n = ::recv(fd, bytes, sizeof bytes, 0)) > 0;)
      answer.append(bytes, static_cast<size_t>(n));
  }
  ::close(fd);
  return answer;
}

std::string Get(int port, const std::string& path) {
  return Exchange(port, "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

std::string Post(int port, const std::string& path, const std::string& body) {
  return Exchange(port, "POST " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n\r\n" + body);
}

size_t Occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::unique_ptr<ScriptedServer> StartServer(const ScriptedOptions& options) {
  auto server = ScriptedServer::Start(options);
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}

TEST(ScriptedServer, ListsItsModelAndIsHealthy) {
  const auto server = StartServer({.model = "m1"});
  EXPECT_THAT(Get(server->Port(), "/health"), HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(Get(server->Port(), "/v1/models"), HasSubstr("\"id\":\"m1\""));
  EXPECT_THAT(Get(server->Port(), "/elsewhere"), HasSubstr("HTTP/1.1 404"));
}

TEST(ScriptedServer, StreamsTokensThenUsageThenDone) {
  const auto server = StartServer({.tokens = 3, .answer = "abc"});
  const std::string answer = Post(server->Port(), "/v1/chat/completions", R"({"stream":true})");
  EXPECT_EQ(Occurrences(answer, "\"delta\":{\"content\""), 3u) << answer;
  EXPECT_THAT(answer, HasSubstr("\"completion_tokens\":3"));
  EXPECT_THAT(answer, ::testing::EndsWith("data: [DONE]\n\n\r\n0\r\n\r\n"));
}

TEST(ScriptedServer, GivesExactlyMaxTokensWhenEosIsIgnored) {
  const auto server = StartServer({.token_interval_ms = 0, .tokens = 2});
  const std::string answer =
      Post(server->Port(), "/v1/completions", R"({"prompt":[1,2,3],"max_tokens":5,"ignore_eos":true})");
  EXPECT_THAT(answer, HasSubstr("\"completion_tokens\":5"));
  EXPECT_THAT(answer, HasSubstr("\"prompt_tokens\":3"));
  EXPECT_THAT(answer, HasSubstr("\"finish_reason\":\"length\""));
}

TEST(ScriptedServer, AnswersResponsesWithTextEventsAndTheWholeAtTheEnd) {
  const auto server = StartServer({.token_interval_ms = 0, .tokens = 3, .answer = "abc"});
  const std::string answer = Post(server->Port(), "/v1/responses", R"({"input":"x","stream":true})");
  EXPECT_EQ(Occurrences(answer, "\"type\":\"response.output_text.delta\""), 3u) << answer;
  EXPECT_THAT(answer, HasSubstr("\"text\":\"abc\",\"type\":\"output_text\""));
  EXPECT_THAT(answer, HasSubstr("\"type\":\"response.completed\""));
  const std::string cut = Post(server->Port(), "/v1/responses", R"({"input":"x","max_output_tokens":2})");
  EXPECT_THAT(cut, HasSubstr("\"incomplete_details\":{\"reason\":\"max_output_tokens\"}"));
  EXPECT_THAT(cut, HasSubstr("\"output_tokens\":2"));
}

TEST(ScriptedServer, GivesQueuedAnswersFirstAndKeepsRequestBodies) {
  const auto server = StartServer({});
  server->Queue({.status = 429, .content_type = "text/plain", .body = "slow down"});
  EXPECT_THAT(Post(server->Port(), "/v1/completions", "first"), HasSubstr("429 Too Many Requests"));
  EXPECT_THAT(Post(server->Port(), "/v1/completions", R"({"prompt":"x"})"), HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(server->RequestBodies(), ::testing::ElementsAre("first", R"({"prompt":"x"})"));
}

TEST(ScriptedServer, CutsABodyWithoutItsEnd) {
  const auto server = StartServer({});
  server->Queue({.chunks = {{0, "data: 1\n\n"}}, .cut = true});
  const std::string answer = Post(server->Port(), "/v1/completions", "{}");
  EXPECT_THAT(answer, HasSubstr("data: 1\n\n"));
  EXPECT_THAT(answer, Not(::testing::EndsWith("0\r\n\r\n")));
}

TEST(ScriptedServer, WritesChunksNoEarlierThanTheirTime) {
  const auto server = StartServer({});
  server->Queue({.chunks = {{20, "a"}, {20, "b"}}});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(Post(server->Port(), "/v1/completions", "{}"), HasSubstr("1\r\na\r\n1\r\nb\r\n0\r\n\r\n"));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(40));
}

TEST(ScriptedServer, AnswersUnhealthyBeforeHealthy) {
  const auto server = StartServer({.unhealthy_answers = 1});
  EXPECT_THAT(Get(server->Port(), "/health"), HasSubstr("HTTP/1.1 503"));
  EXPECT_THAT(Get(server->Port(), "/health"), HasSubstr("HTTP/1.1 200"));
}

TEST(ScriptedServer, SaysWhichPortIsTaken) {
  const auto first = StartServer({});
  const auto second = ScriptedServer::Start({.port = first->Port()});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("port taken: 127.0.0.1:" + std::to_string(first->Port())));
}

}  // namespace
}  // namespace assay::testing
