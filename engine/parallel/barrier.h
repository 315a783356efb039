#pragma once

#include <atomic>
#include <cstdint>

namespace assay::engine {

// Where all workers wait for each other. A wait is short when every worker has a core, so it spins first;
// after some microseconds it sleeps, so that a machine with too few cores still moves on.
class Barrier {
 public:
  explicit Barrier(int64_t workers) : workers_(workers) {}
  void Wait();

 private:
  const int64_t workers_;
  alignas(64) std::atomic<int64_t> arrived_{0};
  alignas(64) std::atomic<uint32_t> generation_{0};
};

// Returns once `value` is no longer `old`: spins, then sleeps until notified.
void WaitForChange(const std::atomic<uint32_t>& value, uint32_t old);

}  // namespace assay::engine
