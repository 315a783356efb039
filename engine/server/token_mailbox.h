#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/scheduler/scheduler.h"

namespace assay::engine {

// Tokens on their way from the scheduler's thread to the server's. The server is woken once for all that has
// come since it last looked.
class TokenMailbox {
 public:
  struct Letter {
    uint64_t key = 0;  // whose token
    size_t choice = 0;
    GeneratedToken token;
  };

  explicit TokenMailbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  void Put(uint64_t key, size_t choice, const GeneratedToken& token) {
    bool first = false;
    {
      const std::lock_guard lock(mutex_);
      first = letters_.empty();
      letters_.push_back({key, choice, token});
    }
    if (first) wake_();
  }

  std::vector<Letter> TakeAll() {
    const std::lock_guard lock(mutex_);
    return std::exchange(letters_, {});
  }

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Letter> letters_;
};

}  // namespace assay::engine
