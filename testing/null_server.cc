#include "testing/null_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/clock.h"

namespace assay::testing {
namespace {

constexpr int64_t kBlock = 64;  // events written at once when not paced
constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string HttpChunk(const std::string& bytes) {
  char size[24];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + bytes + "\r\n";
}

// As vLLM writes it.
std::string Event(const std::string& text, const std::string& finish_reason = "null") {
  return HttpChunk(
      R"(data: {"id":"cmpl-3a5c9d0e1f2b4c6d8e0f1a2b3c4d5e6f","object":"text_completion","created":1764547200,)"
      R"("model":"null","choices":[{"index":0,"text":")" +
      text + R"(","logprobs":null,"finish_reason":)" + finish_reason +
      R"(,"stop_reason":null}],"usage":null})" + "\n\n");
}

struct Connection {
  std::string request;
  bool answering = false, ended = false;
  int64_t left = 0;          // events not yet begun
  std::string_view pending;  // bytes on their way out
};

class Loop {
 public:
  Loop(int listener, const NullServerOptions& options)
      : listener_(listener), options_(options), epoll_(::epoll_create1(0)) {
    for (int64_t i = 0; i < kBlock; ++i) block_ += Event(" hello");
    tail_ = Event("", "\"length\"") +
            HttpChunk("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":" +
                      std::to_string(options.chunks) + "}}\n\ndata: [DONE]\n\n") +
            "0\r\n\r\n";
    stamped_ = Event(std::string(NullServer::kStampDigits, '0'));
    stamp_at_ = stamped_.find(std::string(NullServer::kStampDigits, '0'));
    Watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
  }

  [[noreturn]] void Run() {
    std::array<epoll_event, 512> events;
    for (;;) {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) Serve(events[static_cast<size_t>(i)]);
      if (options_.chunks_per_s > 0 && static_cast<int64_t>(open_.size()) == options_.streams) Pace();
    }
  }

 private:
  void Watch(int socket, uint32_t what, int operation) const {
    epoll_event event{};
    event.events = what;
    event.data.fd = socket;
    ::epoll_ctl(epoll_, operation, socket, &event);
  }

  void Serve(const epoll_event& event) {
    const int socket = event.data.fd;
    if (socket == listener_) return Accept();
    if ((event.events & EPOLLOUT) != 0)
      Flood(socket, connections_[socket]);
    else
      Read(socket, connections_[socket]);
  }

  void Accept() {
    for (int socket; (socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0;) {
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      connections_[socket] = {};
      Watch(socket, EPOLLIN, EPOLL_CTL_ADD);
    }
  }

  void Read(int socket, Connection& connection) {
    std::array<char, 16384> bytes;
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
      ::close(socket);
      connections_.erase(socket);
      return;
    }
    std::string& request = connection.request;
    request.append(bytes.data(), static_cast<size_t>(count));
    const size_t head = request.find("\r\n\r\n");
    if (head == std::string::npos) return;
    const size_t field = request.find("Content-Length: ");
    const size_t length = field < head ? std::strtoul(request.c_str() + field + 16, nullptr, 10) : 0;
    if (request.size() < head + 4 + length) return;
    request.clear();
    Send(socket, kHead);
    connection = {{}, true, false, options_.chunks, {}};
    if (options_.chunks_per_s > 0)
      open_.push_back(socket);
    else
      Watch(socket, EPOLLOUT, EPOLL_CTL_MOD);
  }

  void Flood(int socket, Connection& connection) {
    for (;;) {
      if (connection.pending.empty() && !Refill(connection)) {
        Watch(socket, EPOLLIN, EPOLL_CTL_MOD);
        return;
      }
      const ssize_t count =
          ::send(socket, connection.pending.data(), connection.pending.size(), MSG_NOSIGNAL);
      if (count < 0) return;
      connection.pending.remove_prefix(static_cast<size_t>(count));
    }
  }

  bool Refill(Connection& connection) {
    if (connection.left > 0) {
      const int64_t events = std::min(connection.left, kBlock);
      connection.left -= events;
      connection.pending = std::string_view(block_).substr(0, block_.size() / kBlock * events);
    } else if (!std::exchange(connection.ended, true)) {
      connection.pending = tail_;
    } else {
      return false;
    }
    return true;
  }

  // The streams in turn. A late send carries its own, later, stamp: only the client's delay is in the error.
  void Pace() {
    const TimePoint start = RealClock().Now();
    const int64_t all = options_.streams * options_.chunks;
    for (int64_t i = 0; i < all; ++i) {
      const Nanoseconds after(static_cast<int64_t>(static_cast<double>(i) * 1e9 / options_.chunks_per_s));
      TimePoint now;
      while ((now = RealClock().Now()) < start + after) {
      }
      char stamp[32];
      std::snprintf(stamp, sizeof stamp, "%0*lld", NullServer::kStampDigits,
                    static_cast<long long>(now.time_since_epoch().count()));
      stamped_.replace(stamp_at_, NullServer::kStampDigits, stamp);
      Send(open_[static_cast<size_t>(i % options_.streams)], stamped_);
    }
    for (const int socket : open_) Send(socket, tail_);
    open_.clear();
  }

  // What does not fit is a client that stopped reading: its stream is cut.
  static void Send(int socket, std::string_view bytes) {
    if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
      ::shutdown(socket, SHUT_RDWR);
    }
  }

  int listener_;
  NullServerOptions options_;
  int epoll_;
  std::string block_, tail_, stamped_;
  size_t stamp_at_ = 0;
  std::unordered_map<int, Connection> connections_;
  std::vector<int> open_;  // paced streams
};

}  // namespace

NullServer::NullServer(const NullServerOptions& options) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CHECK_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  CHECK_EQ(::listen(listener, 4096), 0);
  CHECK_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  pid_ = ::fork();
  CHECK_GE(pid_, 0);
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    Loop(listener, options).Run();
  }
  ::close(listener);
}

NullServer::~NullServer() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace assay::testing
