#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gate/regression.h"
#include "runner/store/baseline_store.h"

namespace assay::runner {

// A line of runs that are compared with one another: one cell on one machine, of one branch and config.
struct CellLine {
  std::string cell_key, config_hash, host, branch;
  std::optional<std::string> repository = {};  // absent: any
};

// What the runs of this line decided, oldest first.
std::vector<gate::JudgedRun> JudgedRuns(const std::vector<StoredRun>& newest_first, const CellLine& line);

struct OpenRegression {
  CellLine line;
  gate::Regression regression;
};

// Of every line in the store. Branches that nobody's baseline is of have them too, and they block nothing.
std::vector<OpenRegression> AllOpenRegressions(const std::vector<StoredRun>& newest_first);

// "128x32.tpot_p50_ms fails since run R of 2026-11-30 (commit abc)"
std::string Words(const gate::Regression& regression);

}  // namespace assay::runner
