#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/planted_fault.h"
#include "engine/scheduler/scheduler.h"

namespace assay::engine {

// What planted faults do to a scheduler. The ordinary program has an object without members whose functions
// are empty.
#ifdef ASSAY_FAULTS
class SchedulerFaults {
 public:
  // On the thread that submits, one at a time.
  void Submitted(GenerationRequest& request);
  // On the scheduler's thread, after a step that computed for so long, with or without prompt tokens.
  void Computed(std::chrono::steady_clock::duration time, bool prompts);
  // Before the client hears of the next token of request `id`, its `output_tokens`th.
  void Sampled(uint64_t id, int64_t output_tokens, GeneratedToken& token);

 private:
  std::atomic<int64_t> submitted_ = 0;
  int64_t stalls_ = 0;
};
#else
class SchedulerFaults {
 public:
  void Submitted(GenerationRequest&) {}
  void Computed(std::chrono::steady_clock::duration, bool) {}
  void Sampled(uint64_t, int64_t, GeneratedToken&) {}
};
#endif

}  // namespace assay::engine
