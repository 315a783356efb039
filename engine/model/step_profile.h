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

// Where the time of forward passes went.
struct StepProfile {
  std::array<double, kOps> seconds{};
  int64_t steps = 0;
};

// Splits a forward pass into operations: Mark(op) says that what was done since the last mark was `op`. Costs
// nothing when it is off.
class OpClock {
 public:
  explicit OpClock(bool on) : on_(on) {}
  void Start() {
    if (!on_) return;
    ++profile_.steps;
    last_ = Clock::now();
  }
  void Mark(Op op) {
    if (!on_) return;
    const Clock::time_point now = Clock::now();
    profile_.seconds[static_cast<size_t>(op)] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  const StepProfile& Profile() const { return profile_; }
  void Reset() { profile_ = {}; }

 private:
  using Clock = std::chrono::steady_clock;
  bool on_;
  Clock::time_point last_;
  StepProfile profile_;
};

}  // namespace assay::engine
