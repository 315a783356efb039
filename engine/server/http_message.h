#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace assay::engine {

struct HttpRequest {
  std::string method;
  std::string path;  // without the query
  std::string authorization;
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string allow;  // methods that a 405 names
};

// One request's answer: either Respond, or BeginStream, Write... and EndStream. All calls on the server's
// thread; after the end, and once the client is gone, they do nothing.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void Respond(const HttpResponse& response) = 0;
  virtual void BeginStream() = 0;                  // 200, text/event-stream
  virtual void Write(std::string_view bytes) = 0;  // what is written in one turn leaves in one packet
  virtual void EndStream() = 0;
  // More is unsent than a reader should be behind: what can be held back or merged should be.
  virtual bool Congested() const = 0;
  // Called at most once, in a turn of its own, when the client leaves before the end of the answer.
  virtual void OnGone(std::function<void()> callback) = 0;
};

}  // namespace assay::engine
