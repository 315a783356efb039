#pragma once

#include <string>
#include <vector>

#include "gate/history.h"
#include "runner/store/baseline_store.h"

namespace assay::runner {

struct HistoryQuery {
  std::string branch = "main";
  std::string cell, metric;                             // "" is any
  bool (*wanted)(const std::string& metric) = nullptr;  // of those; null: all
};

// The complete runs of the branch whose exit code says that they were measured (passed, failed or undecided),
// oldest first. A damaged record is named and passed over: a trend does not stand or fall with one night.
Result<std::vector<gate::HistoryRun>> ReadHistory(BaselineStore& store, const HistoryQuery& query);

}  // namespace assay::runner
