#pragma once

#include <algorithm>
#include <cstdint>

namespace assay::kernels {

// Fetches memory that will be read later, a little at a time: while several rows share a chunk of weights,
// the processor does not look as far ahead as the next chunk by itself.
class Ahead {
 public:
  // `bytes` from `from` on, in `steps` steps.
  Ahead(const void* from, int64_t bytes, int64_t steps)
      : at_(static_cast<const char*>(from)),
        end_(at_ + bytes),
        step_((bytes / kCacheLine + steps - 1) / steps * kCacheLine) {}
  void Step() {
    const char* to = std::min(at_ + step_, end_);
    for (; at_ < to; at_ += kCacheLine) __builtin_prefetch(at_);
  }

 private:
  static constexpr int64_t kCacheLine = 64;
  const char *at_, *end_;
  int64_t step_;
};

}  // namespace assay::kernels
