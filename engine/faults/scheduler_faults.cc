#include "engine/faults/scheduler_faults.h"

#ifdef ASSAY_FAULTS

#include <csignal>
#include <random>
#include <thread>
#include <vector>

namespace assay::engine {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int64_t kCutAnswerTokens = 16;
constexpr int64_t kErrorAfterTokens = 4;

// Not asleep: a core that computes longer is busy longer.
void ComputeFor(SteadyClock::duration time) {
  const auto end = SteadyClock::now() + time;
  while (SteadyClock::now() < end) {
  }
}

void Leak(int64_t kib) {
  static std::vector<std::vector<char>> kept;  // under the scheduler's mutex
  kept.emplace_back(static_cast<size_t>(kib) * 1024, 'x');
}

}  // namespace

void SchedulerFaults::Submitted(GenerationRequest& request) {
  if (++submitted_ >= PlantedNumber() && Planted(Fault::kCrash)) std::raise(SIGSEGV);
  if (Planted(Fault::kLeak)) Leak(PlantedNumber());
  if (Planted(Fault::kSeedIgnored)) request.seed = std::random_device{}();
}

void SchedulerFaults::Computed(SteadyClock::duration time, bool prompts) {
  const int64_t number = PlantedNumber(), submitted = submitted_;
  if (Planted(Fault::kSlowStep)) ComputeFor(time * number / 100);
  if (Planted(Fault::kSlowTtft) && prompts) ComputeFor(time * number / 100);
  if (Planted(Fault::kStall) && submitted / number > stalls_) {
    stalls_ = submitted / number;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  while (Planted(Fault::kHang) && submitted >= number) std::this_thread::sleep_for(std::chrono::seconds(1));
}

void SchedulerFaults::Sampled(uint64_t id, int64_t output_tokens, GeneratedToken& token) {
  const bool chosen = PlantedNumber() > 0 && id % static_cast<uint64_t>(PlantedNumber()) == 0;
  if (Planted(Fault::kTruncation) && chosen && output_tokens >= kCutAnswerTokens)
    token.finish = FinishReason::kStop;
  if (Planted(Fault::kStreamError) && chosen && output_tokens >= kErrorAfterTokens) {
    token.finish = FinishReason::kError;
    token.error = "a step failed";
  }
}

}  // namespace assay::engine

#endif
