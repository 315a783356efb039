#pragma once

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "engine/server/test_client.h"

namespace assay::engine {

// The server that is abused, and what it can be asked for on /v1/completions.
struct AbusedServer {
  int port = 0;
  nlohmann::json endless;    // a completion that ends long after everybody has left
  nlohmann::json brief;      // one that ends soon,
  std::string brief_text;    // and its text
  nlohmann::json many;       // a streamed chat completion with many choices
  nlohmann::json responses;  // a streamed /v1/responses
};

constexpr const char* kCompletions = "/v1/completions";

// What clients do to a server: one row each. None may cost the others their answers, or leave anything
// behind.
struct Abuse {
  const char* name;
  void (*act)(const AbusedServer& server);
};

inline void Raw(const AbusedServer& server, const std::string& bytes) {
  TestClient client(server.port);
  client.Send(bytes);
  client.Receive();
}

inline void LeaveMidStream(const AbusedServer& server) {
  TestClient client(server.port);
  client.SendRequest("POST", kCompletions, server.endless.dump());
  client.Receive();
}

inline void LeaveBeforeTheAnswer(const AbusedServer& server) {
  TestClient client(server.port);
  client.SendRequest("POST", kCompletions, server.endless.dump());
}

inline void ResetMidStream(const AbusedServer& server) {
  TestClient client(server.port);
  client.SendRequest("POST", kCompletions, server.endless.dump());
  client.Receive();
  const linger hard{1, 0};
  ::setsockopt(client.Descriptor(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

inline void HalfCloseThenLeave(const AbusedServer& server) {
  TestClient client(server.port);
  client.SendRequest("POST", kCompletions, server.endless.dump());
  client.HalfClose();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

inline void HalfCloseAndWait(const AbusedServer& server) {
  TestClient client(server.port);
  client.SendRequest("POST", kCompletions, server.brief.dump());
  client.HalfClose();
  EXPECT_EQ(client.ReadResponse().Json()["choices"][0]["text"], server.brief_text);
}

inline void ReadNothing(const AbusedServer& server) {
  TestClient client(server.port, 2048);
  client.SendRequest("POST", kCompletions, server.endless.dump());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // longer than the write timeout
}

inline void StopInTheBody(const AbusedServer& server) {
  TestClient client(server.port);
  client.Send("POST /v1/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{\"prompt\"");
}

inline void StopInTheHeader(const AbusedServer& server) {
  TestClient client(server.port);
  client.Send("POST /v1/completions HTT");
  client.Receive();  // until the server has had enough
}

inline void FloodHeaders(const AbusedServer& server) {
  TestClient client(server.port);
  client.Send("GET /health HTTP/1.1\r\n");
  for (int i = 0; i < 2000; ++i)
    client.Send("X-Header-" + std::to_string(i) + ": " + std::string(40, 'x') + "\r\n");
  EXPECT_EQ(client.ReadResponse().status, 431);
}

inline void SendTooLargeABody(const AbusedServer& server) {
  TestClient client(server.port);
  client.Send("POST /v1/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(client.ReadResponse().status, 413);
}

inline void SendChunks(const AbusedServer& server) {
  TestClient client(server.port);
  const std::string body = server.brief.dump();
  client.Send("POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  for (const char c : body) client.Send(std::string("1\r\n") + c + "\r\n");
  client.Send("0\r\n\r\n");
  EXPECT_EQ(client.ReadResponse().status, 200);
}

inline void Pipeline(const AbusedServer& server) {
  TestClient client(server.port);
  for (int i = 0; i < 5; ++i) client.SendRequest("POST", kCompletions, server.brief.dump());
  client.SendRequest("POST", kCompletions, server.endless.dump());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.ReadResponse().status, 200);
}

inline void AskForNonsense(const AbusedServer& server) {
  TestClient client(server.port);
  EXPECT_EQ(client.Call("POST", kCompletions, "{\"prompt\": \"\xff\"}").status, 400);
  EXPECT_EQ(client.Call("POST", kCompletions, std::string(100'000, '[')).status, 400);
  EXPECT_EQ(client.Call("POST", kCompletions, R"({"prompt": {"a": 1}})").status, 400);
  EXPECT_EQ(client.Call("POST", kCompletions, R"({"prompt": "x", "max_tokens": -5})").status, 400);
  EXPECT_EQ(
      client.Call("POST", kCompletions, R"({"prompt": "x", "max_tokens": 99999999999999999999})").status,
      400);
  EXPECT_EQ(client.Call("DELETE", kCompletions).status, 405);
  EXPECT_EQ(client.Call("GET", "/etc/passwd").status, 404);
}

inline void LeaveManyChoices(const AbusedServer& server) {
  TestClient client(server.port);
  client.SendRequest("POST", "/v1/chat/completions", server.many.dump());
  client.Receive();
}

inline void LeaveAResponse(const AbusedServer& server) {
  TestClient client(server.port);
  client.SendRequest("POST", "/v1/responses", server.responses.dump());
  client.Receive();
}

inline const Abuse kAbuses[] = {
    {"leave mid-stream", LeaveMidStream},
    {"leave before the answer", LeaveBeforeTheAnswer},
    {"reset mid-stream", ResetMidStream},
    {"half-close, then leave", HalfCloseThenLeave},
    {"half-close and wait", HalfCloseAndWait},
    {"read nothing", ReadNothing},
    {"stop in the body", StopInTheBody},
    {"stop in the header", StopInTheHeader},
    {"flood headers", FloodHeaders},
    {"too large a body", SendTooLargeABody},
    {"chunks", SendChunks},
    {"pipeline", Pipeline},
    {"nonsense", AskForNonsense},
    {"leave many choices", LeaveManyChoices},
    {"leave a response", LeaveAResponse},
    {"not HTTP",
     [](const AbusedServer& server) { Raw(server, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"); }},
    {"only line ends", [](const AbusedServer& server) { Raw(server, std::string(5000, '\n')); }},
    {"bad chunk size",
     [](const AbusedServer& server) {
       Raw(server, "POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
     }},
    {"two lengths",
     [](const AbusedServer& server) {
       Raw(server, "POST /v1/completions HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello");
     }},
};

// Of a page of /metrics.
inline double Metric(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name);
  CHECK_NE(at, std::string::npos);
  const size_t end = text.find('\n', at + 1);
  return std::stod(text.substr(text.rfind(' ', end), end));
}

}  // namespace assay::engine
