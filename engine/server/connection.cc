#include "engine/server/connection.h"

#include <poll.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <utility>

#include "engine/server/errors.h"

namespace assay::engine {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr size_t kReadBytes = 16 * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr size_t kKeptBytes = 64 * 1024;  // of a buffer, from one answer to the next

int StatusOfParseError(const boost::system::error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  return 400;
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, ConnectionHub& hub)
    : socket_(std::move(socket)), hub_(hub), buffer_(hub.limits.header_bytes + 2 * kReadBytes) {}

TimePoint Connection::In(std::chrono::milliseconds time) const {
  return RealClock().Now() + time;
}

void Connection::Start() {
  NextRequest();
  deadline_ = In(hub_.limits.header_timeout);  // a client that connects has something to say
}

void Connection::NextRequest() {
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(hub_.limits.header_bytes));
  parser_->body_limit(hub_.limits.body_bytes);
  parser_->eager(true);
  answer_ended_ = false;
  head_sent_ = false;
  on_gone_ = nullptr;
  for (std::string* buffer : {&unsent_, &sending_}) {
    if (buffer->capacity() > kKeptBytes) *buffer = {};
  }
  phase_ = Phase::kIdle;
  deadline_ = In(hub_.limits.idle_timeout);
  if (buffer_.size() > 0) {
    asio::post(hub_.io, [self = shared_from_this()] { self->Parse(); });
  } else {
    Read();
  }
}

void Connection::Read() {
  if (reading_ || phase_ == Phase::kClosed) return;
  const bool holds_enough = buffer_.size() > hub_.limits.header_bytes;  // a client that sends ahead waits
  if (phase_ == Phase::kAnswering && holds_enough) return;
  reading_ = true;
  socket_.async_read_some(buffer_.prepare(kReadBytes),
                          [self = shared_from_this()](ErrorCode error, size_t n) {
                            self->reading_ = false;
                            self->OnRead(error, n);
                          });
}

void Connection::OnRead(ErrorCode error, size_t bytes) {
  if (phase_ == Phase::kClosed) return;
  if (error == asio::error::eof && phase_ == Phase::kAnswering) return OnSendingSideClosed();
  if (error) return Close();
  buffer_.commit(bytes);
  switch (phase_) {
    case Phase::kLingering:
      buffer_.consume(buffer_.size());
      return Read();
    case Phase::kAnswering:
      return Read();
    default:
      return Parse();
  }
}

// A client that has left and one that only has no more to ask look alike until something is sent to them: the
// first answers with a reset. Any number of 100 Continue may stand before an answer.
void Connection::OnSendingSideClosed() {
  half_closed_ = true;
  if (buffer_.size() == 0) keep_alive_ = false;
  if (head_sent_ || !chunked_) return;
  unsent_ += kContinue;
  ScheduleFlush();
}

bool Connection::Reset() {
  pollfd poll{socket_.native_handle(), 0, 0};
  return ::poll(&poll, 1, 0) > 0 && (poll.revents & (POLLERR | POLLHUP)) != 0;
}

void Connection::Parse() {
  if (phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kIdle) {
    phase_ = Phase::kHeader;
    deadline_ = In(hub_.limits.header_timeout);
  }
  while (buffer_.size() > 0 && !parser_->is_done()) {
    ErrorCode error;
    const size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error == http::error::need_more) break;
    if (error)
      return Refuse(StatusOfParseError(error), "the HTTP request cannot be read: " + error.message());
    if (used == 0) break;
  }
  if (phase_ == Phase::kHeader && parser_->is_header_done()) OnHeader();
  if (phase_ == Phase::kBody) CountBody();
  if (phase_ != Phase::kHeader && phase_ != Phase::kBody) return;  // refused
  if (parser_->is_done()) return Dispatch();
  if (buffer_.size() > hub_.limits.header_bytes) return Refuse(431, "the request's headers are too large");
  Read();
}

void Connection::OnHeader() {
  phase_ = Phase::kBody;
  deadline_ = In(hub_.limits.body_timeout);
  if (parser_->is_done() || parser_->get()[http::field::expect] != "100-continue") return;
  unsent_ += kContinue;
  ScheduleFlush();
}

void Connection::CountBody() {
  const size_t size = parser_->get().body().size();
  hub_.bodies_bytes += size - counted_body_;
  counted_body_ = size;
  if (hub_.bodies_bytes > hub_.limits.all_bodies_bytes) {
    Refuse(503, "too many large requests at once; try again later");
  }
}

void Connection::ReleaseBody() {
  hub_.bodies_bytes -= std::exchange(counted_body_, 0);
}

void Connection::Dispatch() {
  phase_ = Phase::kAnswering;
  auto message = parser_->release();
  parser_.reset();
  ReleaseBody();
  chunked_ = message.version() >= 11;
  keep_alive_ = message.keep_alive() && !hub_.stopping;
  HttpRequest request;
  request.method = std::string(message.method_string());
  const auto target = message.target();
  request.path = std::string(target.substr(0, target.find('?')));
  request.authorization = std::string(message[http::field::authorization]);
  request.body = std::move(message.body());
  hub_.handler(std::move(request), shared_from_this());
  Read();
}

// Answers what could not be read as a request, and ends the connection.
void Connection::Refuse(int status, const std::string& message) {
  phase_ = Phase::kAnswering;
  keep_alive_ = false;
  parser_.reset();
  ReleaseBody();
  Respond(ErrorResponse(status, message));
}

void Connection::SendHead(int status, const std::string& content_type, const std::string& more) {
  head_sent_ = true;
  unsent_ +=
      fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nConnection: {}\r\n{}\r\n", status,
                  std::string(http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)))),
                  content_type, keep_alive_ ? "keep-alive" : "close", more);
}

void Connection::Respond(const HttpResponse& response) {
  if (phase_ != Phase::kAnswering || answer_ended_) return;
  std::string more = fmt::format("Content-Length: {}\r\n", response.body.size());
  if (!response.allow.empty()) more += fmt::format("Allow: {}\r\n", response.allow);
  SendHead(response.status, response.content_type, more);
  unsent_ += response.body;
  EndAnswer();
}

void Connection::BeginStream() {
  if (phase_ != Phase::kAnswering || answer_ended_) return;
  if (!chunked_) keep_alive_ = false;  // HTTP/1.0: the end of the connection is the end of the answer
  SendHead(
      200, "text/event-stream; charset=utf-8",
      chunked_ ? "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n" : "Cache-Control: no-cache\r\n");
  ScheduleFlush();
}

void Connection::Write(std::string_view bytes) {
  if (phase_ != Phase::kAnswering || answer_ended_ || bytes.empty()) return;
  if (chunked_) fmt::format_to(std::back_inserter(unsent_), "{:x}\r\n", bytes.size());
  unsent_ += bytes;
  if (chunked_) unsent_ += "\r\n";
  ScheduleFlush();
}

void Connection::EndStream() {
  if (phase_ != Phase::kAnswering || answer_ended_) return;
  if (chunked_) unsent_ += "0\r\n\r\n";
  EndAnswer();
}

void Connection::OnGone(std::function<void()> callback) {
  on_gone_ = std::move(callback);
}

void Connection::EndAnswer() {
  answer_ended_ = true;
  on_gone_ = nullptr;
  ScheduleFlush();
}

// All that is written in one turn of the loop goes out in one write.
void Connection::ScheduleFlush() {
  if (flush_scheduled_ || writing_) return;
  flush_scheduled_ = true;
  asio::post(hub_.io, [self = shared_from_this()] {
    self->flush_scheduled_ = false;
    self->Flush();
  });
}

void Connection::Flush() {
  if (phase_ == Phase::kClosed || writing_) return;
  if (unsent_.empty()) {
    if (phase_ == Phase::kAnswering && answer_ended_) AfterAnswer();
    return;
  }
  sending_.clear();
  sending_.swap(unsent_);
  writing_ = true;
  write_deadline_ = In(hub_.limits.write_timeout);
  asio::async_write(
      socket_, asio::buffer(sending_),
      [self = shared_from_this()](const ErrorCode& error, size_t) {
        // Called before each part of the write: the part before it has been taken.
        self->write_deadline_ = self->In(self->hub_.limits.write_timeout);
        return error ? size_t{0} : size_t{64 * 1024};
      },
      [self = shared_from_this()](ErrorCode error, size_t) {
        self->writing_ = false;
        self->OnWritten(error);
      });
}

void Connection::OnWritten(ErrorCode error) {
  if (phase_ == Phase::kClosed) return;
  if (error) return Close();
  Flush();
}

void Connection::AfterAnswer() {
  if (!keep_alive_ || hub_.stopping) return Linger();
  NextRequest();
}

// Closing while the client still sends would reset the connection and could lose the answer on its way.
void Connection::Linger() {
  ErrorCode ignored;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  phase_ = Phase::kLingering;
  deadline_ = In(hub_.stopping ? std::chrono::milliseconds(0) : hub_.limits.linger_timeout);
  buffer_.consume(buffer_.size());
  Read();
}

void Connection::CloseIfOverdue(TimePoint now) {
  if (writing_ && now >= write_deadline_) return Close();
  if (half_closed_ && Reset()) return Close();
  if (phase_ == Phase::kAnswering || now < deadline_) return;
  const bool cut_short = phase_ == Phase::kHeader || phase_ == Phase::kBody;
  if (cut_short) return Refuse(408, "the request did not arrive in time");
  Close();
}

void Connection::CloseIfIdle() {
  if (phase_ != Phase::kAnswering) Close();
}

void Connection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  ReleaseBody();
  ErrorCode ignored;
  socket_.close(ignored);
  if (on_gone_) asio::post(hub_.io, std::exchange(on_gone_, nullptr));
  const auto self = shared_from_this();
  hub_.connections.erase(self);
  hub_.on_closed();
}

}  // namespace assay::engine
