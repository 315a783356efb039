#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "wire/sse.h"

namespace assay::engine {

// A client for tests that shows every byte: one connection, blocking, nothing retried.
class TestClient {
 public:
  explicit TestClient(int port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    timeval patience{20, 0};  // a test that waits longer has failed
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~TestClient() { Close(); }
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;

  void Close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  int Descriptor() const { return fd_; }
  void HalfClose() { ::shutdown(fd_, SHUT_WR); }

  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;  // the server has closed; what it said is read next
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }

  void SendRequest(const std::string& method, const std::string& path, const std::string& body = "",
                   const std::string& more_headers = "") {
    Send(method + " " + path + " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n" + more_headers + "\r\n" + body);
  }

  // Some bytes; "" at the end of the connection.
  std::string Receive() {
    char bytes[4096];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    return n > 0 ? std::string(bytes, static_cast<size_t>(n)) : "";
  }

  struct Response {
    int status = 0;  // 0: the connection ended first
    std::string head;
    std::string body;  // chunked coding undone
    bool complete = false;
    nlohmann::json Json() const { return nlohmann::json::parse(body, nullptr, false); }
    std::string ErrorText() const { return Json()["error"]["message"].get<std::string>(); }
    // Payloads of the SSE events.
    std::vector<std::string> Events() const {
      std::vector<std::string> events;
      wire::SseDecoder().Feed(body, [&](const wire::SseEvent& event) { events.emplace_back(event.data); });
      return events;
    }
  };

  Response ReadResponse() {
    Response response;
    while (received_.find("\r\n\r\n") == std::string::npos) {
      if (!More()) return response;
    }
    const size_t end = received_.find("\r\n\r\n");
    response.head = Taken(end + 4);
    response.status = std::atoi(response.head.c_str() + sizeof("HTTP/1.1"));
    if (response.status == 100) return ReadResponse();
    const size_t length = response.head.find("Content-Length: ");
    if (length != std::string::npos) {
      const size_t size = std::strtoul(response.head.c_str() + length + 16, nullptr, 10);
      response.complete = Fill(size);
      response.body = Taken(std::min(size, received_.size()));
    } else if (response.head.find("chunked") != std::string::npos) {
      response.complete = ReadChunks(response.body);
    } else {
      while (More()) continue;
      response.body = Taken(received_.size());
      response.complete = true;
    }
    return response;
  }

  Response Call(const std::string& method, const std::string& path, const std::string& body = "",
                const std::string& more_headers = "") {
    SendRequest(method, path, body, more_headers);
    return ReadResponse();
  }
  Response Post(const std::string& path, const nlohmann::json& body) {
    return Call("POST", path, body.dump());
  }

 private:
  bool More() {
    const std::string bytes = Receive();
    received_ += bytes;
    return !bytes.empty();
  }
  bool Fill(size_t size) {
    while (received_.size() < size) {
      if (!More()) return false;
    }
    return true;
  }
  std::string Taken(size_t size) {
    std::string out = received_.substr(0, size);
    received_.erase(0, size);
    return out;
  }
  bool ReadChunks(std::string& body) {
    for (;;) {
      while (received_.find("\r\n") == std::string::npos) {
        if (!More()) return false;
      }
      const std::string line = Taken(received_.find("\r\n") + 2);
      const size_t size = std::strtoul(line.c_str(), nullptr, 16);
      if (!Fill(size + 2)) return false;
      body += Taken(size);
      Taken(2);
      if (size == 0) return true;
    }
  }

  int fd_;
  std::string received_;
};

}  // namespace assay::engine
