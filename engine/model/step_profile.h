#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace assay::engine {

enum class Op { kEmbed, kNorm, kQkv, kRotary, kAttention, kOutput, kRouter, kGateUp, kDown, kLogits, kCount };
constexpr size_t kOps = static_cast<size_t>(Op::kCount);
// "attention", in the order of Op.
const char* OpName(Op op);

// What forward passes did, and where their time went when that was measured.
struct StepProfile {
  std::array<double, kOps> seconds{};
  int64_t steps = 0;
  int64_t weight_bytes = 0;   // of the weights that were read, an expert's only when a row took it
  int64_t multiply_adds = 0;  // of matrix products
};

// Splits a forward pass into operations: Mark(op) says that what was done since the last mark was `op`. Reads
// no clock when it is off.
class OpClock {
 public:
  explicit OpClock(bool on) : on_(on) {}
  void Start() {
    ++profile_.steps;
    if (on_) last_ = Clock::now();
  }
  void Count(int64_t weight_bytes, int64_t multiply_adds) {
    profile_.weight_bytes += weight_bytes;
    profile_.multiply_adds += multiply_adds;
  }
  void Mark(Op op) {
    if (!on_) return;
    const Clock::time_point now = Clock::now();
    profile_.seconds[static_cast<size_t>(op)] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  const StepProfile& Profile() const { return profile_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool on_;
  Clock::time_point last_;
  StepProfile profile_;
};

}  // namespace assay::engine
