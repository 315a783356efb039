#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "record/verdict.h"

// A FAIL on the branch opens a regression of its metric. While one is open no run of the cell becomes a
// baseline, so that the next ones are compared with the last good runs; a PASS against these closes it.
namespace assay::gate {

// The outcome of each metric that was compared (gate/acknowledge.h has its name). One that several checks
// judged passes only if all did.
std::map<std::string, record::Outcome> ComparedMetrics(const record::Verdict& verdict,
                                                       const std::string& cell);

// One cell of a stored run.
struct JudgedRun {
  std::string run_id, created, commit;
  std::map<std::string, record::Outcome> metrics;
};

struct Regression {
  std::string metric;
  std::string run_id, created, commit;  // that opened it
  int64_t runs = 0;                     // of this metric since, that run with it, until one passed
  bool open = true;
};

// All there have been, oldest first by metric.
std::vector<Regression> Regressions(const std::vector<JudgedRun>& runs);

// What is open after these runs of one cell and branch, oldest first. INCONCLUSIVE closes nothing.
std::vector<Regression> OpenRegressions(const std::vector<JudgedRun>& runs);

}  // namespace assay::gate
