#include <gtest/gtest.h>

#include <atomic>

#include "engine/server/service_test_support.h"
#include "engine/server/test_client.h"

namespace assay::engine {
namespace {

using nlohmann::json;

constexpr const char* kPath = "/v1/completions";

std::string Endless() {
  return Completion("x~", {{"stream", true}}).dump();
}

// What clients do to a server: one row each. None may cost the others their answers, or leave anything
// behind.
struct Abuse {
  const char* name;
  void (*act)(int port);
};

void Raw(int port, const std::string& bytes) {
  TestClient client(port);
  client.Send(bytes);
  client.Receive();
}

void LeaveMidStream(int port) {
  TestClient client(port);
  client.SendRequest("POST", kPath, Endless());
  client.Receive();
}

void LeaveBeforeTheAnswer(int port) {
  TestClient client(port);
  client.SendRequest("POST", kPath, Completion("x~").dump());
}

void ResetMidStream(int port) {
  TestClient client(port);
  client.SendRequest("POST", kPath, Endless());
  client.Receive();
  const linger hard{1, 0};
  ::setsockopt(client.Descriptor(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

void HalfCloseThenLeave(int port) {
  TestClient client(port);
  client.SendRequest("POST", kPath, Completion("x~").dump());
  client.HalfClose();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void HalfCloseAndWait(int port) {
  TestClient client(port);
  client.SendRequest("POST", kPath, Completion("ok^").dump());
  client.HalfClose();
  EXPECT_EQ(client.ReadResponse().Json()["choices"][0]["text"], "ok");
}

void ReadNothing(int port) {
  TestClient client(port, 2048);
  client.SendRequest("POST", kPath, Endless());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // longer than the write timeout
}

void StopInTheBody(int port) {
  TestClient client(port);
  client.Send("POST /v1/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{\"prompt\"");
}

void StopInTheHeader(int port) {
  TestClient client(port);
  client.Send("POST /v1/completions HTT");
  client.Receive();  // until the server has had enough
}

void FloodHeaders(int port) {
  TestClient client(port);
  client.Send("GET /health HTTP/1.1\r\n");
  for (int i = 0; i < 2000; ++i)
    client.Send("X-Header-" + std::to_string(i) + ": " + std::string(40, 'x') + "\r\n");
  EXPECT_EQ(client.ReadResponse().status, 431);
}

void SendTooLargeABody(int port) {
  TestClient client(port);
  client.Send("POST /v1/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(client.ReadResponse().status, 413);
}

void SendChunks(int port) {
  TestClient client(port);
  const std::string body = Completion("ok^").dump();
  client.Send("POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  for (const char c : body) client.Send(std::string("1\r\n") + c + "\r\n");
  client.Send("0\r\n\r\n");
  EXPECT_EQ(client.ReadResponse().status, 200);
}

void Pipeline(int port) {
  TestClient client(port);
  for (int i = 0; i < 5; ++i) client.SendRequest("POST", kPath, Completion("ok^").dump());
  client.SendRequest("POST", kPath, Endless());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.ReadResponse().status, 200);
}

void AskForNonsense(int port) {
  TestClient client(port);
  EXPECT_EQ(client.Call("POST", kPath, "{\"prompt\": \"\xff\"}").status, 400);
  EXPECT_EQ(client.Call("POST", kPath, std::string(100'000, '[')).status, 400);
  EXPECT_EQ(client.Call("POST", kPath, R"({"prompt": {"a": 1}})").status, 400);
  EXPECT_EQ(client.Call("POST", kPath, R"({"prompt": "x", "max_tokens": -5})").status, 400);
  EXPECT_EQ(client.Call("POST", kPath, R"({"prompt": "x", "max_tokens": 99999999999999999999})").status, 400);
  EXPECT_EQ(client.Call("DELETE", kPath).status, 405);
  EXPECT_EQ(client.Call("GET", "/etc/passwd").status, 404);
  EXPECT_EQ(client.Call("POST", kPath, Completion("ab%^").dump()).status, 500);
}

void LeaveManyChoices(int port) {
  TestClient client(port);
  client.SendRequest("POST", "/v1/chat/completions", Chat("{final}x~", {{"n", 16}, {"stream", true}}).dump());
  client.Receive();
}

void LeaveAResponse(int port) {
  TestClient client(port);
  client.SendRequest("POST", "/v1/responses", R"({"input": "say:{final}x~|", "stream": true})");
  client.Receive();
}

const Abuse kAbuses[] = {
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
    {"not HTTP", [](int port) { Raw(port, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"); }},
    {"only line ends", [](int port) { Raw(port, std::string(5000, '\n')); }},
    {"bad chunk size",
     [](int port) {
       Raw(port, "POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
     }},
    {"two lengths",
     [](int port) {
       Raw(port, "POST /v1/completions HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello");
     }},
};

double Metric(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name);
  CHECK_NE(at, std::string::npos);
  const size_t end = text.find('\n', at + 1);
  return std::stod(text.substr(text.rfind(' ', end), end));
}

TEST(Abuse, CostsNobodyElseAnAnswerAndLeavesNothingBehind) {
  TestServer::Options options;
  options.limits.header_timeout = options.limits.body_timeout = std::chrono::milliseconds(200);
  options.limits.write_timeout = std::chrono::milliseconds(200);
  options.limits.linger_timeout = std::chrono::milliseconds(200);
  options.before_forward = [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); };
  TestServer server(std::move(options));
  TestClient prober(server.Port());
  const double descriptors = Metric(prober.Call("GET", "/metrics").body, "process_open_fds");

  std::atomic<bool> done = false;
  std::thread decent([&] {
    while (!done) {
      TestClient client(server.Port());
      const auto response = client.Post(kPath, Completion("a decent answer^", {{"stream", true}}));
      EXPECT_TRUE(response.complete);
      EXPECT_EQ(response.Events().size(), 17u);  // a chunk for each character, the end, [DONE]
    }
  });
  std::vector<std::thread> abusers;
  for (const Abuse& abuse : kAbuses) {
    abusers.emplace_back([&server, act = abuse.act] {
      for (int i = 0; i < 4; ++i) act(server.Port());
    });
  }
  for (std::thread& abuser : abusers) abuser.join();
  done = true;
  decent.join();

  EXPECT_TRUE(server.BecomesFree());
  std::string metrics;
  for (int i = 0; i < 500; ++i) {  // connections linger for a moment
    metrics = prober.Call("GET", "/metrics").body;
    if (Metric(metrics, "process_open_fds") <= descriptors) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(Metric(metrics, "process_open_fds"), descriptors);
  EXPECT_EQ(Metric(metrics, "assay:num_requests_running"), 0);
  EXPECT_EQ(Metric(metrics, "assay:num_requests_waiting"), 0);
  EXPECT_EQ(Metric(metrics, "assay:kv_cache_usage_perc"), 0);
  EXPECT_EQ(prober.Call("GET", "/health").status, 200);
}

}  // namespace
}  // namespace assay::engine
