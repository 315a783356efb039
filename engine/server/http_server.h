#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "engine/server/http_limits.h"
#include "engine/server/http_message.h"

namespace assay::engine {

// HTTP/1.1 on one thread, the one that calls Run.
class HttpServer {
 public:
  using Handler = std::function<void(HttpRequest, std::shared_ptr<Exchange>)>;

  // Takes the port (0: any) without accepting yet: who connects before Listen is refused. A port in use is an
  // error that begins "port taken: ".
  static Result<std::unique_ptr<HttpServer>> Bind(const std::string& host, int port,
                                                  const HttpLimits& limits);
  virtual ~HttpServer() = default;

  virtual int Port() const = 0;
  virtual void SetHandler(Handler handler) = 0;
  virtual Status Listen() = 0;
  // Serves until Stop.
  virtual void Run() = 0;
  // From any thread: calls `task` on the server's thread.
  virtual void Post(std::function<void()> task) = 0;
  // On the server's thread: accepts no more, closes idle connections, and lets Run return when the answers
  // under way have been sent, or after `grace`.
  virtual void Stop(std::chrono::milliseconds grace) = 0;
  // Calls `callback` on the server's thread at the first SIGTERM or SIGINT; a second one ends the process.
  virtual void OnTerminate(std::function<void()> callback) = 0;
};

}  // namespace assay::engine
