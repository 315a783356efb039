#include <gtest/gtest.h>
#include <sys/resource.h>

#include <condition_variable>
#include <mutex>

#include "engine/server/service.h"
#include "engine/server/service_test_support.h"
#include "engine/server/test_client.h"

namespace assay::engine {
namespace {

using nlohmann::json;

// Lets a test hold the model still.
class Gate {
 public:
  std::function<void()> Waiter() {
    return [this] {
      std::unique_lock lock(mutex_);
      opened_.wait(lock, [this] { return open_; });
    };
  }
  void Open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

TEST(Health, FailsWithTheReasonWhileGenerationIsStalled) {
  Gate gate;
  TestServer::Options options;
  options.before_forward = gate.Waiter();
  options.service.stall_seconds = 0.05;
  TestServer server(std::move(options));
  TestClient prober(server.Port()), client(server.Port());
  EXPECT_EQ(prober.Call("GET", "/health").status, 200);
  client.SendRequest("POST", "/v1/completions", Completion("a^").dump());
  TestClient::Response health;
  do {
    health = prober.Call("GET", "/health");
  } while (health.status == 200);
  EXPECT_EQ(health.status, 503);
  EXPECT_NE(health.ErrorText().find("generation has stalled"), std::string::npos);
  gate.Open();
  EXPECT_EQ(client.ReadResponse().status, 200);
  EXPECT_EQ(prober.Call("GET", "/health").status, 200);
}

TEST(Disconnect, EndsTheRequestAndFreesItsBlocks) {
  const struct {
    const char* name;
    bool stream, half;  // half: the sending side was closed some time before
  } rows[] = {{"stream", true, false},
              {"whole", false, false},
              {"stream, half closed before", true, true},
              {"whole, half closed before", false, true}};
  TestServer server;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    TestClient client(server.Port());
    client.SendRequest("POST", "/v1/completions", Completion("x~", {{"stream", row.stream}}).dump());
    if (row.stream) {
      EXPECT_NE(client.Receive(), "");
    } else {
      while (server.Engine().Stats().running == 0) std::this_thread::yield();
    }
    if (row.half) {
      client.HalfClose();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    client.Close();
    EXPECT_TRUE(server.BecomesFree());
  }
  TestClient client(server.Port());
  EXPECT_NE(client.Call("GET", "/metrics").body.find("finished_reason=\"abort\"} 4"), std::string::npos);
}

TEST(HalfClose, TheClientStillGetsItsAnswersAndThenTheEnd) {
  TestServer::Options options;
  options.before_forward = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  TestServer server(std::move(options));
  for (const bool stream : {false, true}) {
    SCOPED_TRACE(stream);
    TestClient client(server.Port());
    const std::string body = Completion("some words^", {{"stream", stream}}).dump();
    client.SendRequest("POST", "/v1/completions", body);
    client.SendRequest("POST", "/v1/completions", body);  // sent ahead
    client.HalfClose();
    for (int i = 0; i < 2; ++i) {
      const auto response = client.ReadResponse();
      EXPECT_EQ(response.status, 200);
      EXPECT_TRUE(response.complete);
      std::string text;
      for (const auto& event : stream ? response.Events() : std::vector<std::string>{response.body}) {
        if (event != "[DONE]") text += json::parse(event)["choices"][0]["text"].get<std::string>();
      }
      EXPECT_EQ(text, "some words");
    }
    EXPECT_EQ(client.Receive(), "");
  }
  EXPECT_TRUE(server.BecomesFree());
}

TEST(Disconnect, AReaderThatTakesNothingIsCutOff) {
  TestServer::Options options;
  options.limits.write_timeout = std::chrono::milliseconds(50);
  TestServer server(std::move(options));
  TestClient client(server.Port(), 4096);
  client.SendRequest("POST", "/v1/completions", Completion("x~", {{"stream", true}}).dump());
  TestClient prober(server.Port());
  std::string metrics;
  do {
    metrics = prober.Call("GET", "/metrics").body;
  } while (metrics.find("finished_reason=\"abort\"} 1") == std::string::npos);
  EXPECT_TRUE(server.BecomesFree());
}

TEST(SlowReader, GetsTheWholeText) {
  TestServer::Options options;
  options.limits.unsent_bytes = 1000;
  TestServer server(std::move(options));
  const int64_t tokens = 10'000;
  TestClient client(server.Port(), 4096);
  const json more = {{"stream", true}, {"max_tokens", tokens}, {"stream_options", {{"include_usage", true}}}};
  client.SendRequest("POST", "/v1/completions", Completion("abcx~", more).dump());
  while (server.Engine().Stats().generated_tokens < tokens) std::this_thread::yield();  // nobody reads
  const auto response = client.ReadResponse();
  EXPECT_TRUE(response.complete);
  std::string text;
  int64_t counted = 0;
  for (const auto& event : response.Events()) {
    if (event == "[DONE]") continue;
    const json chunk = json::parse(event);
    if (chunk["choices"].empty()) {
      counted = chunk["usage"]["completion_tokens"];
    } else {
      text += chunk["choices"][0]["text"].get<std::string>();
    }
  }
  EXPECT_EQ(text, "abc" + std::string(static_cast<size_t>(tokens - 3), 'x'));
  EXPECT_EQ(counted, tokens);
}

TEST(Stop, EndsStreamsWithAnErrorAndWholeAnswersWith503) {
  TestServer server;
  TestClient stream(server.Port()), whole(server.Port()), idle(server.Port());
  stream.SendRequest("POST", "/v1/completions", Completion("x~", {{"stream", true}}).dump());
  whole.SendRequest("POST", "/v1/completions", Completion("x~").dump());
  while (server.Engine().Stats().running < 2) std::this_thread::yield();
  server.Stop();
  const auto cut = stream.ReadResponse();
  EXPECT_TRUE(cut.complete);
  const auto events = cut.Events();
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(json::parse(events[events.size() - 2])["error"]["message"], "the engine is stopping");
  EXPECT_EQ(events.back(), "[DONE]");
  const auto refused = whole.ReadResponse();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.ErrorText(), "the engine is stopping");
  EXPECT_EQ(idle.Receive(), "");
  EXPECT_TRUE(server.BecomesFree());
}

void RaiseDescriptorLimit() {
  rlimit limit{};
  CHECK_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(Load, AThousandStreamsAtOnceEachGetTheirOwnAnswer) {
  RaiseDescriptorLimit();  // both ends of each connection are here
  constexpr int kStreams = 1000;
  TestServer server;
  std::vector<std::unique_ptr<TestClient>> clients;
  const auto text = [](int i) {
    return "stream number " + std::to_string(i) + " says " + std::string(i % 50, 'z');
  };
  for (int i = 0; i < kStreams; ++i) {
    clients.push_back(std::make_unique<TestClient>(server.Port()));
    clients.back()->SendRequest("POST", "/v1/chat/completions",
                                Chat("{final}" + text(i) + "^", {{"stream", true}}).dump());
  }
  for (int i = 0; i < kStreams; ++i) {
    std::string content;
    const auto response = clients[static_cast<size_t>(i)]->ReadResponse();
    for (const auto& event : response.Events()) {
      if (event != "[DONE]") content += json::parse(event)["choices"][0]["delta"].value("content", "");
    }
    EXPECT_EQ(content, text(i));
    EXPECT_TRUE(response.complete);
  }
  EXPECT_TRUE(server.BecomesFree());
}

}  // namespace
}  // namespace assay::engine
