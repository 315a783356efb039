#include "engine/parallel/barrier.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::engine {
namespace {

constexpr int kSpins = 2000;  // some 20 to 50 microseconds

void Pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

void WaitForChange(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    Pause();
  }
  value.wait(old, std::memory_order_acquire);
}

void Barrier::Wait() {
  if (workers_ == 1) return;
  const uint32_t generation = generation_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < workers_) {
    WaitForChange(generation_, generation);
    return;
  }
  arrived_.store(0, std::memory_order_relaxed);
  generation_.store(generation + 1, std::memory_order_release);
  generation_.notify_all();
}

}  // namespace assay::engine
