#pragma once

// For tests: runs what follows with one instruction set instead of the best.
//   for (const int64_t target : InstructionSets()) { const UseTarget use(target); ... }
#include "kernels/simd.h"
// simd.h first: it says what is compiled.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <vector>

namespace assay::kernels {

inline std::vector<int64_t> InstructionSets() {
  return hwy::SupportedAndGeneratedTargets();
}

class UseTarget {
 public:
  explicit UseTarget(int64_t target) : trace_(__FILE__, __LINE__, hwy::TargetName(target)) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
  }
  ~UseTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
  UseTarget(const UseTarget&) = delete;
  UseTarget& operator=(const UseTarget&) = delete;

 private:
  ::testing::ScopedTrace trace_;
};

}  // namespace assay::kernels
