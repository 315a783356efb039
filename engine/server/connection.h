#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/clock.h"
#include "engine/server/http_server.h"

namespace assay::engine {

class Connection;

// What the connections of one server share.
struct ConnectionHub {
  boost::asio::io_context& io;
  HttpLimits limits;
  HttpServer::Handler handler;
  std::function<void()> on_closed;  // a connection has gone
  std::unordered_set<std::shared_ptr<Connection>> connections;
  size_t bodies_bytes = 0;  // of request bodies being received
  bool stopping = false;
};

// One client: reads requests one after the other, hands each to the handler and writes its answer. While the
// answer is made it goes on reading, to learn that the client has left. A client that only closes its sending
// side still gets its answer.
class Connection final : public Exchange, public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::ip::tcp::socket socket, ConnectionHub& hub);
  void Start();
  void CloseIfOverdue(TimePoint now);
  void CloseIfIdle();

  void Respond(const HttpResponse& response) override;
  void BeginStream() override;
  void Write(std::string_view bytes) override;
  void EndStream() override;
  bool Congested() const override { return unsent_.size() > hub_.limits.unsent_bytes; }
  void OnGone(std::function<void()> callback) override;

 private:
  enum class Phase { kIdle, kHeader, kBody, kAnswering, kLingering, kClosed };
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  using ErrorCode = boost::system::error_code;

  void NextRequest();
  void Read();
  void OnRead(ErrorCode error, size_t bytes);
  void OnSendingSideClosed();
  bool Reset();
  void Parse();
  void OnHeader();
  void CountBody();
  void ReleaseBody();
  void Dispatch();
  void Refuse(int status, const std::string& message);
  void SendHead(int status, const std::string& content_type, const std::string& more);
  void EndAnswer();
  void ScheduleFlush();
  void Flush();
  void OnWritten(ErrorCode error);
  void AfterAnswer();
  void Linger();
  void Close();
  TimePoint In(std::chrono::milliseconds time) const;

  boost::asio::ip::tcp::socket socket_;
  ConnectionHub& hub_;
  Phase phase_ = Phase::kIdle;
  TimePoint deadline_{};        // of the phase
  TimePoint write_deadline_{};  // of the write under way

  boost::beast::flat_buffer buffer_;  // received, not yet parsed
  std::optional<Parser> parser_;
  size_t counted_body_ = 0;  // our share of hub_.bodies_bytes
  bool reading_ = false;

  bool keep_alive_ = true;
  bool chunked_ = true;
  bool half_closed_ = false;  // the client sends no more
  bool head_sent_ = false;    // of the answer
  bool answer_ended_ = false;
  bool flush_scheduled_ = false;
  bool writing_ = false;
  std::string unsent_;   // of the answer
  std::string sending_;  // owned by the write under way
  std::function<void()> on_gone_;
};

}  // namespace assay::engine
