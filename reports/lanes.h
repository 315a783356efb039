#pragma once

#include <string>
#include <vector>

#include "reports/view.h"

namespace assay::reports {

// One benchmark of one cell, with its checks in the order of its metrics.
struct Lane {
  const record::CellRecord* cell = nullptr;
  const record::ServingRecord* serving = nullptr;
  const record::ServingRecord* baseline = nullptr;  // of the newest earlier cell; null where none is at hand
  std::string name;                                 // what tells it from the others of its group: a backend
  std::vector<const record::Check*> checks;
};

// The same shape on the same machine by several cells: what a reader compares at a glance.
struct LaneGroup {
  std::string shape, machine;
  std::vector<Lane> lanes;
};

std::vector<LaneGroup> LanesByShape(const View& view);

// The check of a metric in a lane; null for none.
const record::Check* CheckOf(const Lane& lane, const std::string& metric);

// All metrics of the group's lanes, in the order of their first appearance.
std::vector<std::string> MetricsOf(const LaneGroup& group);

// The benchmark of the same name in the newest earlier cell that has it.
const record::ServingRecord* BaselineServing(const View& view, const std::string& cell,
                                             const std::string& benchmark);

}  // namespace assay::reports
