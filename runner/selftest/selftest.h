#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace assay::runner {

struct SelftestOptions {
  Path config;                      // "" is configs/selftest/tiny-moe.yaml, or equal-arms.yaml with --aa
  std::vector<std::string> faults;  // NAME or NAME:N; empty: the whole corpus
  uint64_t seed = 0;                // of questions, prompts and sampling
  Path engine;                      // "" is the program beside assay
  Path out;                         // "" makes out/<run id>
  std::string format = "terminal";  // terminal | markdown
  int64_t equal_arms = 0;           // --aa N: so many decisions on equal arms in place of faults
  std::vector<std::string> command;
};

// Plants one fault after the other into the engine, runs the gate on each, and prints what was noticed.
// Returns the exit code; an Error means that the selftest itself could not be done.
Result<int> Selftest(const SelftestOptions& options);

// The gate on runs that differ in nothing: what it calls FAIL is a false alarm.
Result<int> EqualArms(const SelftestOptions& options);

}  // namespace assay::runner
