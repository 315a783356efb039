#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace assay::evals {

// What an eval shares with those who watch it: the watchdog reads `tokens` and `in_flight`, the terminal
// shows the rest, and either may ask it to stop. Written by the eval's thread, read by others.
struct Progress {
  std::atomic<int64_t> tokens{0};     // stream chunks with a token, over all requests so far
  std::atomic<int64_t> in_flight{0};  // requests sent and not finished
  std::atomic<int64_t> done{0};
  std::atomic<int64_t> planned{0};
  std::atomic<bool> stop{false};  // set from outside: end now, keep what was measured
};

}  // namespace assay::evals
