#include "testing/scripted_server.h"

#include <unistd.h>

#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "testing/scripted_answers.h"

namespace assay::testing {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

// What the sessions share. All of it is used on the server's thread; the mutex guards what the test reads.
class Script {
 public:
  explicit Script(ScriptedOptions options) : options_(std::move(options)) {}

  // The answer to one request; nullopt means never to answer.
  std::optional<ScriptedAnswer> Answer(http::verb method, const std::string& target,
                                       const std::string& body) {
    if (method != http::verb::post) return AnswerGet(target);
    const int number = posts_++;
    if (options_.die_after_requests >= 0 && number >= options_.die_after_requests) Die();
    if (options_.hang_after_requests >= 0 && number >= options_.hang_after_requests) return std::nullopt;
    const std::lock_guard lock(mutex_);
    bodies_.push_back(body);
    if (queue_.empty()) return DefaultAnswer(target, body, options_);
    ScriptedAnswer answer = std::move(queue_.front());
    queue_.pop_front();
    return answer;
  }

  void CountChunk() {
    if (options_.die_after_chunks >= 0 && ++chunks_ >= options_.die_after_chunks) Die();
  }

  void Queue(ScriptedAnswer answer) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(answer));
  }

  std::vector<std::string> Bodies() const {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  ScriptedAnswer AnswerGet(const std::string& target) {
    if (options_.get_answer) return *options_.get_answer;
    if (target == "/v1/models") return {200, "application/json", ModelListBody(options_), {}, false, false};
    if (target != "/health") return ErrorAnswer(404, "no such path: " + target);
    if (unhealthy_given_++ < options_.unhealthy_answers) return ErrorAnswer(503, "loading");
    if (options_.health_status != 200) return ErrorAnswer(options_.health_status, "not healthy");
    return {200, "text/plain", "", {}, false, false};
  }

  [[noreturn]] void Die() {
    if (options_.die_signal != 0) {
      std::signal(options_.die_signal, SIG_DFL);  // a sanitizer's handler would make an exit code of it
      std::raise(options_.die_signal);
    }
    ::_exit(options_.exit_code);
  }

  const ScriptedOptions options_;
  int posts_ = 0, chunks_ = 0, unhealthy_given_ = 0;
  mutable std::mutex mutex_;
  std::deque<ScriptedAnswer> queue_;
  std::vector<std::string> bodies_;
};

// One connection; keeps itself alive through its pending operation.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, std::shared_ptr<Script> script)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), script_(std::move(script)) {
    socket_.set_option(tcp::no_delay(true));
  }

  void ReadRequest() {
    parser_.emplace();
    parser_->body_limit(std::numeric_limits<uint64_t>::max());
    http::async_read(socket_, buffer_, *parser_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->Respond();
    });
  }

 private:
  void Respond() {
    const auto& request = parser_->get();
    std::optional<ScriptedAnswer> answer =
        script_->Answer(request.method(), std::string(request.target()), request.body());
    if (!answer) return WaitForClient();
    keep_alive_ = request.keep_alive();
    answer_ = std::move(*answer);
    next_chunk_ = 0;
    due_ = asio::steady_timer::clock_type::now();
    const bool chunked = !answer_.chunks.empty();
    std::string head =
        "HTTP/1.1 " + std::to_string(answer_.status) + " " +
        std::string(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(answer_.status)))) +
        "\r\nContent-Type: " + answer_.content_type + "\r\n";
    if (chunked)
      Write(head + "Transfer-Encoding: chunked\r\n\r\n", [this] { WaitForNextChunk(); });
    else
      WriteBody(head);
  }

  // A cut body promises one byte more than it sends.
  void WriteBody(const std::string& head) {
    const size_t length = answer_.body.size() + (answer_.cut || answer_.never_end ? 1 : 0);
    Write(head + "Content-Length: " + std::to_string(length) + "\r\n\r\n" + answer_.body,
          [this] { EndOfAnswer(); });
  }

  void WaitForNextChunk() {
    if (next_chunk_ == answer_.chunks.size()) return EndOfChunks();
    due_ += std::chrono::nanoseconds(static_cast<int64_t>(answer_.chunks[next_chunk_].after_ms * 1e6));
    timer_.expires_at(due_);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->WriteChunk();
    });
  }

  void WriteChunk() {
    const std::string& bytes = answer_.chunks[next_chunk_++].bytes;
    if (bytes.empty()) return WaitForNextChunk();  // an empty chunk would end the body
    char size[24];
    std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
    Write(size + bytes + "\r\n", [this] {
      script_->CountChunk();
      WaitForNextChunk();
    });
  }

  void EndOfChunks() {
    if (answer_.cut || answer_.never_end) return EndOfAnswer();
    Write("0\r\n\r\n", [this] { EndOfAnswer(); });
  }

  void EndOfAnswer() {
    if (answer_.never_end) return WaitForClient();
    if (answer_.cut || !keep_alive_) return Close();
    ReadRequest();
  }

  // Stays open without a word until the client closes (or sends more, which nobody does).
  void WaitForClient() {
    socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](error_code) { self->Close(); });
  }

  void Close() {
    error_code ignored;
    if (answer_.reset)
      socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    else
      socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }

  template <typename Then>
  void Write(std::string bytes, Then then) {
    out_ = std::move(bytes);
    asio::async_write(socket_, asio::buffer(out_),
                      [self = shared_from_this(), then](error_code error, size_t) {
                        if (!error) then();
                      });
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  std::shared_ptr<Script> script_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  ScriptedAnswer answer_;
  size_t next_chunk_ = 0;
  bool keep_alive_ = true;
  asio::steady_timer::time_point due_;  // chunks are due from the start of the answer: lateness never adds up
  std::string out_;
};

class BeastServer final : public ScriptedServer {
 public:
  BeastServer(const ScriptedOptions& options)
      : acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), static_cast<uint16_t>(options.port))),
        port_(acceptor_.local_endpoint().port()),
        script_(std::make_shared<Script>(options)) {
    Accept();
    thread_ = std::thread([this] { io_.run(); });
  }

  ~BeastServer() override {
    io_.stop();
    thread_.join();
  }

  std::string BaseUrl() const override { return "http://127.0.0.1:" + std::to_string(port_); }
  int Port() const override { return port_; }
  void Queue(ScriptedAnswer answer) override { script_->Queue(std::move(answer)); }
  std::vector<std::string> RequestBodies() const override { return script_->Bodies(); }

 private:
  void Accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!error) std::make_shared<Session>(std::move(socket), script_)->ReadRequest();
      Accept();
    });
  }

  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  int port_;
  std::shared_ptr<Script> script_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<ScriptedServer>> ScriptedServer::Start(const ScriptedOptions& options) {
  try {
    return std::make_unique<BeastServer>(options);
  } catch (const boost::system::system_error& error) {
    return Fail(ErrorKind::kInfrastructure, "port taken: 127.0.0.1:{}: {}", options.port,
                error.code().message());
  }
}

}  // namespace assay::testing
