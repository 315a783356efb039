#pragma once

#include <functional>

#include "base/clock.h"

namespace assay::evals {

// epoll in libcurl's words (CURL_POLL_*, CURL_CSELECT_*).
class Poller {
 public:
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  // What libcurl waits for on this socket from now on.
  void Watch(int socket, int what);
  // Waits until a socket is ready or `until` has come, then visits those that are ready.
  void Wait(TimePoint until, const std::function<void(int socket, int ready)>& visit);

 private:
  int epoll_;
};

}  // namespace assay::evals
