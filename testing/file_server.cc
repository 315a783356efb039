#include "testing/file_server.h"

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <map>
#include <mutex>
#include <thread>

namespace assay::testing {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

struct Stored {
  std::string content;
  int version = 0;
  std::string Etag() const { return "\"" + std::to_string(version) + "\""; }
};

// One connection after the other, each for one request.
class BeastFileServer final : public FileServer {
 public:
  explicit BeastFileServer(const FileServerOptions& options)
      : options_(options), acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    Accept();
    thread_ = std::thread([this] { io_.run(); });
  }

  ~BeastFileServer() override {
    io_.stop();
    thread_.join();
  }

  std::string Url() const override {
    return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()) + "/store";
  }
  std::string File(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find("/store/" + name);
    return found == files_.end() ? "" : found->second.content;
  }
  void SetFile(const std::string& name, const std::string& content) override {
    const std::lock_guard lock(mutex_);
    Set("/store/" + name, content);
  }
  int Refused() const override {
    const std::lock_guard lock(mutex_);
    return refused_;
  }

 private:
  void Accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (!error) Serve(std::move(socket));
      Accept();
    });
  }

  void Serve(tcp::socket socket) {
    boost::system::error_code error;
    boost::beast::flat_buffer buffer;
    http::request_parser<http::string_body> parser;
    parser.body_limit(size_t{64} << 20);
    http::read(socket, buffer, parser, error);
    if (error) return;
    Response response = Answer(parser.get());
    response.set(http::field::connection, "close");
    response.prepare_payload();
    http::write(socket, response, error);
    socket.shutdown(tcp::socket::shutdown_both, error);
  }

  Response Answer(const Request& request) {
    const std::lock_guard lock(mutex_);
    const std::string name(request.target());
    if (!options_.token.empty() && request[http::field::authorization] != "Bearer " + options_.token)
      return Of(http::status::unauthorized);
    if (request.method() == http::verb::get) return Get(name);
    if (request.method() != http::verb::put || !options_.may_put) return Of(http::status::method_not_allowed);
    if (options_.with_etags && !MayReplace(name, request)) {
      ++refused_;
      return Of(http::status::precondition_failed);
    }
    Set(name, request.body());
    return Of(http::status::created);
  }

  static Response Of(http::status status) { return Response(status, 11); }

  Response Get(const std::string& name) const {
    const auto found = files_.find(name);
    if (found == files_.end()) return Of(http::status::not_found);
    Response response = Of(http::status::ok);
    if (options_.with_etags) response.set(http::field::etag, found->second.Etag());
    response.body() = found->second.content;
    return response;
  }

  bool MayReplace(const std::string& name, const Request& request) const {
    const auto found = files_.find(name);
    if (!request[http::field::if_none_match].empty()) return found == files_.end();
    const auto wanted = request[http::field::if_match];
    return wanted.empty() || (found != files_.end() && wanted == found->second.Etag());
  }

  void Set(const std::string& name, const std::string& content) {
    Stored& stored = files_[name];
    stored.content = content;
    ++stored.version;
  }

  const FileServerOptions options_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  mutable std::mutex mutex_;
  std::map<std::string, Stored> files_;
  int refused_ = 0;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<FileServer> FileServer::Start(const FileServerOptions& options) {
  return std::make_unique<BeastFileServer>(options);
}

}  // namespace assay::testing
