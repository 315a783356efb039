#include "engine/server/http_server.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/server/test_client.h"

namespace assay::engine {
namespace {

using std::chrono::milliseconds;

// Echoes the request, on a thread of its own.
class Echo {
 public:
  explicit Echo(const HttpLimits& limits = {}) : http_(std::move(*HttpServer::Bind("127.0.0.1", 0, limits))) {
    http_->SetHandler([](const HttpRequest& request, const std::shared_ptr<Exchange>& reply) {
      HttpResponse response;
      response.content_type = "text/plain";
      response.body = request.method + " " + request.path + " " + request.body;
      reply->Respond(response);
    });
    CHECK(http_->Listen().has_value());
    thread_ = std::thread([this] { http_->Run(); });
  }
  ~Echo() {
    http_->Post([this] { http_->Stop(milliseconds(200)); });
    thread_.join();
  }
  int Port() const { return http_->Port(); }

 private:
  std::unique_ptr<HttpServer> http_;
  std::thread thread_;
};

TEST(HttpServer, AnswersRequestAfterRequestOnOneConnection) {
  Echo server;
  TestClient client(server.Port());
  for (int i = 0; i < 3; ++i) {
    const auto response = client.Call("POST", "/a?b=c", "body " + std::to_string(i));
    EXPECT_EQ(response.body, "POST /a body " + std::to_string(i));
    EXPECT_NE(response.head.find("Connection: keep-alive"), std::string::npos);
  }
}

TEST(HttpServer, AnswersRequestsSentAheadInOrder) {
  Echo server;
  TestClient client(server.Port());
  for (int i = 0; i < 100; ++i) client.SendRequest("POST", "/" + std::to_string(i), "x");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.ReadResponse().body, "POST /" + std::to_string(i) + " x");
}

TEST(HttpServer, ReadsARequestThatComesByteByByte) {
  Echo server;
  TestClient client(server.Port());
  for (const char c : std::string("POST /slow HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nabc")) {
    client.Send(std::string(1, c));
  }
  EXPECT_EQ(client.ReadResponse().body, "POST /slow abc");
}

TEST(HttpServer, ReadsAChunkedBodyAndGreetsAHesitantClient) {
  Echo server;
  TestClient client(server.Port());
  client.Send("POST /c HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.Receive(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.ReadResponse().body, "POST /c abcde");
}

TEST(HttpServer, ClosesAfterTheAnswerWhenTheClientAsks) {
  Echo server;
  TestClient client(server.Port());
  EXPECT_EQ(client.Call("GET", "/", "", "Connection: close\r\n").status, 200);
  EXPECT_EQ(client.Receive(), "");
}

struct RefusalRow {
  const char* name;
  std::string bytes;
  int status;
};

TEST(HttpServer, RefusesWhatIsTooLargeOrNotHttpAndCloses) {
  HttpLimits limits;
  limits.header_bytes = 2048;
  limits.body_bytes = 1000;
  Echo server(limits);
  std::string flood = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 5000; ++i) flood += "X-" + std::to_string(i) + ": y\r\n";
  const RefusalRow rows[] = {
      {"not HTTP", "hello\r\n\r\n", 400},
      {"a TLS greeting", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), 400},
      {"header flood", flood, 431},
      {"one endless header", "GET / HTTP/1.1\r\nX: " + std::string(100'000, 'a'), 431},
      {"an endless target", "GET /" + std::string(100'000, 'a'), 431},
      {"declared body too large", "POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", 413},
      {"huge declared body", "POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n", 413},
      {"nonsense length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"chunked body too large",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n800\r\n" + std::string(2048, 'b') +
           "\r\n0\r\n\r\n",
       413},
      {"large body sent to the end",
       "POST / HTTP/1.1\r\nContent-Length: 3000000\r\n\r\n" + std::string(3'000'000, 'b'), 413},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    TestClient client(server.Port());
    client.Send(row.bytes);
    const auto response = client.ReadResponse();
    EXPECT_EQ(response.status, row.status) << response.head;
    EXPECT_FALSE(response.ErrorText().empty());
    EXPECT_EQ(client.Receive(), "");
  }
}

TEST(HttpServer, ClosesClientsThatDoNotGoOn) {
  HttpLimits limits;
  limits.idle_timeout = limits.header_timeout = limits.body_timeout = limits.linger_timeout =
      milliseconds(50);
  Echo server(limits);
  TestClient silent(server.Port()), header(server.Port()), body(server.Port()), idle(server.Port());
  header.Send("GET / HT");
  body.Send("POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(idle.Call("GET", "/").status, 200);
  EXPECT_EQ(silent.Receive(), "");
  EXPECT_EQ(header.ReadResponse().status, 408);
  EXPECT_EQ(header.Receive(), "");
  EXPECT_EQ(body.ReadResponse().status, 408);
  EXPECT_EQ(idle.Receive(), "");
}

TEST(HttpServer, BodiesBeingReceivedShareABound) {
  HttpLimits limits;
  limits.body_bytes = 100'000;
  limits.all_bodies_bytes = 150'000;
  Echo server(limits);
  const std::string head = "POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n";
  {
    TestClient first(server.Port()), second(server.Port());
    first.Send(head + std::string(99'999, 'a'));
    second.Send(head + std::string(99'999, 'a'));
    // Whichever passes the bound is refused; the other one is then answered.
    pollfd fds[] = {{first.Descriptor(), POLLIN, 0}, {second.Descriptor(), POLLIN, 0}};
    ASSERT_EQ(::poll(fds, 2, 20'000), 1);
    TestClient& refused = fds[0].revents != 0 ? first : second;
    TestClient& other = fds[0].revents != 0 ? second : first;
    EXPECT_EQ(refused.ReadResponse().status, 503);
    other.Send("a");
    EXPECT_EQ(other.ReadResponse().status, 200);
  }
  TestClient third(server.Port());
  EXPECT_EQ(third.Call("POST", "/", std::string(90'000, 'a')).status, 200);
}

TEST(HttpServer, WaitsForAPlaceWhenAllConnectionsAreTaken) {
  HttpLimits limits;
  limits.connections = 2;
  Echo server(limits);
  auto first = std::make_unique<TestClient>(server.Port());
  TestClient second(server.Port());
  EXPECT_EQ(first->Call("GET", "/").status, 200);
  EXPECT_EQ(second.Call("GET", "/").status, 200);
  TestClient third(server.Port());
  third.SendRequest("GET", "/third");
  first.reset();
  EXPECT_EQ(third.ReadResponse().body, "GET /third ");
}

TEST(HttpServer, APortInUseIsAnErrorThatSaysSo) {
  Echo server;
  const auto second = HttpServer::Bind("127.0.0.1", server.Port(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kInfrastructure);
  EXPECT_TRUE(StartsWith(second.error().message, "port taken: 127.0.0.1:" + std::to_string(server.Port())))
      << second.error().message;
}

TEST(HttpServer, AHostThatIsNoAddressIsABadFlag) {
  const auto server = HttpServer::Bind("nowhere.example", 0, {});
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(StartsWith(server.error().message, "bad flag: --host nowhere.example"));
}

}  // namespace
}  // namespace assay::engine
