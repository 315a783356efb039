#pragma once

#include <map>
#include <string>
#include <vector>

#include "reports/report.h"

namespace assay::reports {

// A run as every report looks at it: the cells that are judged, each with its checks.
struct View {
  explicit View(const ReportInput& report);

  bool ManyCells() const { return cells.size() > 1; }
  // Whether a check must say which run it is about.
  bool ManyRuns() const { return input.record.cells.size() > 1; }
  const std::vector<const record::Check*>& ChecksOf(const std::string& cell) const;

  const ReportInput& input;
  Say say;
  // That are judged, in the record's order. Of two arms that ran in turn it is head's first run: what is
  // concluded of the arms is its own.
  std::vector<const record::CellRecord*> cells;
  std::map<std::string, std::vector<const record::Check*>> checks;  // by cell; "" are the run's own
  std::map<std::string, std::vector<const record::CellRecord*>> baseline;
  std::string base_name, head_name;
};

}  // namespace assay::reports
