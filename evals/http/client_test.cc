#include "evals/http/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "testing/scripted_server.h"

namespace assay::evals {
namespace {

using assay::testing::ScriptedAnswer;
using assay::testing::ScriptedServer;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

class HttpClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = ScriptedServer::Start({});
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
  }

  HttpRequest Post(const std::string& body = "{}") const {
    HttpRequest request;
    request.url = server_->BaseUrl() + "/v1/completions";
    request.body = body;
    return request;
  }

  static void Drain(HttpClient& client) {
    while (client.InFlight() > 0) client.Poll(milliseconds(20));
  }

  std::unique_ptr<ScriptedServer> server_;
};

TEST_F(HttpClientTest, GetsABody) {
  const HttpResult result = Fetch({.url = server_->BaseUrl() + "/v1/models"});
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(result.status, 200);
  EXPECT_THAT(result.body, HasSubstr("scripted"));
  EXPECT_GE(result.finished, result.sent);
}

TEST_F(HttpClientTest, PostsTheBodyToTheByte) {
  const std::string body(3'000'000, 'x');  // large enough for "Expect: 100-continue", which is not wanted
  server_->Queue({.content_type = "text/plain", .body = "fine"});
  EXPECT_EQ(Fetch(Post(body)).body, "fine");
  ASSERT_EQ(server_->RequestBodies().size(), 1u);
  EXPECT_EQ(server_->RequestBodies()[0], body);
}

TEST_F(HttpClientTest, HandsOverBytesAsTheyArrive) {
  server_->Queue({.chunks = {{0, "one"}, {60, "two"}}});
  std::vector<std::string> pieces;
  std::vector<TimePoint> times;
  const auto client = NewCurlClient();
  HttpResult result;
  client->Start(
      Post(),
      [&](std::string_view bytes, TimePoint arrived) {
        pieces.emplace_back(bytes);
        times.push_back(arrived);
        return true;
      },
      [&](HttpResult done) { result = std::move(done); });
  Drain(*client);
  EXPECT_TRUE(result.ok()) << result.error;
  EXPECT_EQ(result.body, "");
  EXPECT_THAT(pieces, ::testing::ElementsAre("one", "two"));
  EXPECT_GT(Milliseconds(times[1] - times[0]), 30);
}

TEST_F(HttpClientTest, KeepsTheStartOfAnErrorBody) {
  server_->Queue({.status = 503, .content_type = "application/json", .body = std::string(1 << 20, 'e')});
  const HttpResult result = Fetch(Post());
  EXPECT_EQ(result.status, 503);
  EXPECT_EQ(result.error, "");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.body, std::string(64 << 10, 'e'));
}

TEST_F(HttpClientTest, SaysWhoRefusedTheConnection) {
  const std::string url = server_->BaseUrl() + "/health";
  server_.reset();
  const HttpResult result = Fetch({.url = url});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.error, "cannot connect to " + url + ": Connection refused");
  EXPECT_FALSE(result.timed_out);
}

TEST_F(HttpClientTest, EndsARequestThatFallsSilent) {
  server_->Queue({.chunks = {{0, "one"}}, .never_end = true});
  HttpRequest request = Post();
  request.idle_timeout = milliseconds(150);
  const HttpResult result = Fetch(request);
  EXPECT_EQ(result.error, "no byte for 0.15 s (idle timeout)");
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.status, 200);
  EXPECT_GE(Milliseconds(result.finished - result.sent), 150);
  EXPECT_LT(Milliseconds(result.finished - result.sent), 1000);
}

TEST_F(HttpClientTest, BytesKeepARequestFromIdling) {
  server_->Queue({.chunks = {{100, "a"}, {100, "b"}, {100, "c"}, {100, "d"}}});
  HttpRequest request = Post();
  request.idle_timeout = milliseconds(300);
  EXPECT_TRUE(Fetch(request).ok());
}

TEST_F(HttpClientTest, EndsARequestAtItsTotalTimeout) {
  server_->Queue({.chunks = {{80, "a"}, {80, "b"}, {80, "c"}}, .never_end = true});
  HttpRequest request = Post();
  request.total_timeout = milliseconds(200);
  const HttpResult result = Fetch(request);
  EXPECT_EQ(result.error, "not finished within 0.2 s (request timeout)");
  EXPECT_TRUE(result.timed_out);
}

TEST_F(HttpClientTest, SaysThatAnAnswerWasCut) {
  server_->Queue({.chunks = {{0, "one"}}, .cut = true});
  EXPECT_THAT(Fetch(Post()).error, HasSubstr("the answer was cut"));
}

TEST_F(HttpClientTest, CallbacksMayStartRequests) {
  const auto client = NewCurlClient();
  int finished = 0;
  const HttpClient::OnDone count = [&](const HttpResult& result) { finished += result.ok() ? 1 : 0; };
  bool first_bytes = true;
  client->Start(
      Post(),
      [&](std::string_view, TimePoint) {
        if (std::exchange(first_bytes, false)) client->Start(Post(), {}, count);
        return true;
      },
      [&](const HttpResult& result) {
        count(result);
        client->Start(Post(), {}, count);
      });
  Drain(*client);
  EXPECT_EQ(finished, 3);
}

TEST_F(HttpClientTest, AReaderMayEndItsRequest) {
  server_->Queue({.chunks = {{0, "one"}}, .never_end = true});
  const auto client = NewCurlClient();
  HttpResult result;
  client->Start(
      Post(), [](std::string_view, TimePoint) { return false; },
      [&](HttpResult done) { result = std::move(done); });
  Drain(*client);
  EXPECT_EQ(result.error, "its reader wanted no more of the answer");
}

TEST_F(HttpClientTest, CancelTellsEveryOwner) {
  const auto client = NewCurlClient();
  std::vector<std::string> errors;
  for (int i = 0; i < 3; ++i) {
    server_->Queue({.chunks = {{0, "one"}}, .never_end = true});
    client->Start(Post(), {}, [&](const HttpResult& result) { errors.push_back(result.error); });
  }
  client->Poll(milliseconds(50));
  client->CancelAll("stopped");
  EXPECT_THAT(errors, ::testing::ElementsAre("stopped", "stopped", "stopped"));
  EXPECT_EQ(client->InFlight(), 0u);
}

TEST_F(HttpClientTest, CallbacksMayCancelAll) {
  const auto client = NewCurlClient();
  std::vector<std::string> errors;
  for (int i = 0; i < 3; ++i) {
    server_->Queue({.chunks = {{i == 0 ? 50.0 : 0.0, "one"}}, .never_end = true});
    client->Start(
        Post(),
        [&, i](std::string_view, TimePoint) {
          if (i == 0) client->CancelAll("enough");
          return true;
        },
        [&](const HttpResult& result) { errors.push_back(result.error); });
    client->Poll(milliseconds(20));
  }
  Drain(*client);
  EXPECT_THAT(errors, ::testing::ElementsAre("enough", "enough", "enough"));
}

TEST_F(HttpClientTest, HoldsAThousandRequestsInFlight) {
  constexpr size_t kRequests = 1000;
  const auto client = NewCurlClient();
  size_t ok = 0, peak = 0;
  for (size_t i = 0; i < kRequests; ++i) {
    server_->Queue({.chunks = {{2000, "late"}}});
    client->Start(Post(), {}, [&](const HttpResult& result) { ok += result.body == "late" ? 1 : 0; });
    client->Poll(milliseconds(0));
    peak = std::max(peak, client->InFlight());
  }
  Drain(*client);
  EXPECT_EQ(ok, kRequests);
  EXPECT_EQ(peak, kRequests);
}

TEST_F(HttpClientTest, IgnoresProxiesOnTheOwnMachine) {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  EXPECT_TRUE(Fetch({.url = server_->BaseUrl() + "/health"}).ok());
  ::unsetenv("http_proxy");
}

TEST_F(HttpClientTest, DoesNotFollowRedirects) {
  server_->Queue({.status = 302, .content_type = "text/plain", .body = "over there"});
  const HttpResult result = Fetch(Post());
  EXPECT_EQ(result.status, 302);
  EXPECT_FALSE(result.ok());
}

TEST(HttpClient, RefusesOtherProtocols) {
  EXPECT_THAT(Fetch({.url = "file:///etc/hostname"}).error, HasSubstr("rotocol"));
}

}  // namespace
}  // namespace assay::evals
