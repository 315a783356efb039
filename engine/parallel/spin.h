#pragma once

#include <cstdint>

namespace assay::engine {

// Calls `done` until it is true, for some tens of microseconds; what it said last. A wait among threads that
// all have a core is shorter than that, and a longer one had better give its core away.
template <typename Done>
bool SpinUntil(const Done& done);

// Tells the core that this is a waiting loop.
inline void PauseSpin() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <typename Done>
bool SpinUntil(const Done& done) {
  constexpr int kSpins = 2000;
  for (int i = 0; i < kSpins; ++i) {
    if (done()) return true;
    PauseSpin();
  }
  return done();
}

}  // namespace assay::engine
