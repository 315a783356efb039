#pragma once

#include <string>
#include <vector>

#include "runner/selftest/fault_result.h"

namespace assay::runner {

// What stands above the table: enough to make it again.
struct SelftestHead {
  std::string command, seed;
  std::string machine;  // "2 x AMD EPYC"
  std::string engine;   // "assay-engine 0.1.0+faulty (commit)"
  std::string created;
  int clean_runs = 0;  // of the speed evals without a fault
  double seconds = 0;
};

// Missed ones first, then those noticed for a wrong reason, below the MDE, caught; in the order of the corpus
// within each.
std::vector<FaultResult> Sorted(std::vector<FaultResult> results);

std::string SelftestMarkdown(const SelftestHead& head, const std::vector<FaultResult>& results);
std::string SelftestTerminal(const SelftestHead& head, const std::vector<FaultResult>& results);

// 0 only if every fault that is larger than the MDE was caught, and none for a wrong reason.
int SelftestExitCode(const std::vector<FaultResult>& results);

}  // namespace assay::runner
