#include "engine/server/http_server.h"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <vector>

#include "engine/server/connection.h"

namespace assay::engine {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::chrono::milliseconds kSweepEvery{100};

class AsioServer final : public HttpServer {
 public:
  explicit AsioServer(const HttpLimits& limits) : acceptor_(io_), sweep_(io_), grace_(io_), signals_(io_) {
    hub_.limits = limits;
    hub_.on_closed = [this] { OnClosed(); };
  }
  ~AsioServer() override;

  Status Take(const std::string& host, int port);
  int Port() const override { return port_; }
  void SetHandler(Handler handler) override { hub_.handler = std::move(handler); }
  Status Listen() override;
  void Run() override { io_.run(); }
  void Post(std::function<void()> task) override { asio::post(io_, std::move(task)); }
  void Stop(std::chrono::milliseconds grace) override;
  void OnTerminate(std::function<void()> callback) override;

 private:
  void Accept();
  void Sweep();
  void OnClosed();
  void CloseAll(const std::function<void(Connection&)>& close);

  asio::io_context io_{1};
  ConnectionHub hub_{io_, {}, {}, {}, {}};
  tcp::acceptor acceptor_;
  asio::steady_timer sweep_, grace_;
  asio::signal_set signals_;
  std::string address_;
  int port_ = 0;
  bool accepting_ = false;
};

AsioServer::~AsioServer() {
  hub_.on_closed = [] {};
  hub_.handler = nullptr;
}

tl::unexpected<Error> PortError(const std::string& address, const ErrorCode& error) {
  if (error == asio::error::address_in_use) {
    return Fail(ErrorKind::kInfrastructure,
                "port taken: {}: another process listens there; choose another --port, or 0 for any",
                address);
  }
  return Fail(ErrorKind::kInfrastructure, "cannot listen on {}: {}", address, error.message());
}

Status AsioServer::Take(const std::string& host, int port) {
  ErrorCode error;
  const auto ip = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) return Fail(ErrorKind::kUsage, "bad flag: --host {}: an IP address is needed", host);
  const tcp::endpoint endpoint(ip, static_cast<uint16_t>(port));
  address_ = fmt::format("{}:{}", ip.is_v6() ? "[" + ip.to_string() + "]" : ip.to_string(), port);
  acceptor_.open(endpoint.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (error) return PortError(address_, error);
  port_ = acceptor_.local_endpoint().port();
  return {};
}

Status AsioServer::Listen() {
  ErrorCode error;
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return PortError(address_, error);
  Accept();
  Sweep();
  return {};
}

void AsioServer::Accept() {
  if (accepting_ || hub_.stopping || hub_.connections.size() >= hub_.limits.connections) return;
  accepting_ = true;
  acceptor_.async_accept([this](ErrorCode error, tcp::socket socket) {
    accepting_ = false;
    if (hub_.stopping) return;
    if (error) return;  // out of descriptors, most likely: the next sweep tries again
    ErrorCode ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const auto connection = std::make_shared<Connection>(std::move(socket), hub_);
    hub_.connections.insert(connection);
    connection->Start();
    Accept();
  });
}

void AsioServer::Sweep() {
  sweep_.expires_after(kSweepEvery);
  sweep_.async_wait([this](ErrorCode error) {
    if (error) return;
    const TimePoint now = RealClock().Now();
    CloseAll([now](Connection& connection) { connection.CloseIfOverdue(now); });
    Accept();
    Sweep();
  });
}

void AsioServer::CloseAll(const std::function<void(Connection&)>& close) {
  // A copy, because closing takes a connection out of the set.
  const std::vector<std::shared_ptr<Connection>> all(hub_.connections.begin(), hub_.connections.end());
  for (const auto& connection : all) close(*connection);
}

void AsioServer::OnClosed() {
  if (hub_.stopping && hub_.connections.empty()) return io_.stop();
  Accept();
}

void AsioServer::Stop(std::chrono::milliseconds grace) {
  if (hub_.stopping) return;
  hub_.stopping = true;
  ErrorCode ignored;
  acceptor_.close(ignored);
  CloseAll([](Connection& connection) { connection.CloseIfIdle(); });
  if (hub_.connections.empty()) return io_.stop();
  grace_.expires_after(grace);
  grace_.async_wait([this](ErrorCode) { io_.stop(); });
}

void AsioServer::OnTerminate(std::function<void()> callback) {
  signals_.add(SIGTERM);
  signals_.add(SIGINT);
  signals_.async_wait([this, callback = std::move(callback)](ErrorCode error, int) {
    if (error) return;
    ErrorCode ignored;
    signals_.clear(ignored);  // from here on the default action
    callback();
  });
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Bind(const std::string& host, int port,
                                                     const HttpLimits& limits) {
  auto server = std::make_unique<AsioServer>(limits);
  RETURN_IF_ERROR(server->Take(host, port));
  return server;
}

}  // namespace assay::engine
