#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

// HTTP over libcurl's multi interface. One Client is one thread's; thousands of requests may be in flight in
// it.
namespace assay::evals {

struct HttpRequest {
  std::string url;
  std::string body = {};  // POST application/json when not empty, GET else
  std::vector<std::string> headers = {};
  bool follow_redirects = false;
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds total_timeout{600000};
  std::chrono::milliseconds idle_timeout{120000};  // no byte for so long is a failure
};

struct HttpResult {
  int status = 0;          // 0: no answer
  std::string body;        // what was not handed to on_bytes
  std::string error;       // transport failure in words; "" when an HTTP answer arrived whole
  bool timed_out = false;  // `error` is one of the request's own timeouts
  TimePoint sent{};
  TimePoint finished{};
  bool ok() const { return error.empty() && status >= 200 && status < 300; }
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;

  // False ends the request.
  using OnBytes = std::function<bool(std::string_view bytes, TimePoint arrived)>;
  using OnDone = std::function<void(HttpResult result)>;

  // Starts a request; it goes out in the next Poll. `on_bytes` (may be empty) gets the body of a 2xx answer
  // as it arrives; bodies of other answers are kept in HttpResult::body. Callbacks run inside Poll and may
  // start further requests.
  virtual void Start(HttpRequest request, OnBytes on_bytes, OnDone on_done) = 0;
  // Moves everything forward; waits at most `wait` for something to happen.
  virtual void Poll(std::chrono::microseconds wait) = 0;
  virtual size_t InFlight() const = 0;
  // Ends every request in flight with `error`; their on_done run.
  virtual void CancelAll(const std::string& error) = 0;
};

std::unique_ptr<HttpClient> NewCurlClient();

// One request, waited for.
HttpResult Fetch(const HttpRequest& request);

}  // namespace assay::evals
