#include "reports/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/check_names.h"

namespace assay::reports {
namespace {

using record::CellRecord;
using record::Check;
using record::ServingRecord;

// The shortest property that tells all lanes apart.
void NameLanes(std::vector<Lane>& lanes) {
  const auto distinct = [&](const std::string& (*of)(const CellRecord&)) {
    std::set<std::string> names;
    for (const Lane& lane : lanes) names.insert(of(*lane.cell));
    return names.size() == lanes.size() && !names.contains("");
  };
  const auto name = [&](const std::string& (*of)(const CellRecord&)) {
    for (Lane& lane : lanes) lane.name = of(*lane.cell);
  };
  const auto backend = [](const CellRecord& cell) -> const std::string& { return cell.server.moe_backend; };
  const auto config = [](const CellRecord& cell) -> const std::string& { return cell.config; };
  const auto key = [](const CellRecord& cell) -> const std::string& { return cell.key; };
  if (distinct(backend)) return name(backend);
  if (distinct(config)) return name(config);
  name(key);
}

}  // namespace

std::vector<LaneGroup> LanesByShape(const View& view) {
  std::vector<LaneGroup> groups;
  for (const CellRecord* cell : view.cells) {
    const record::Fingerprint& print = cell->fingerprint;
    const std::string machine = fmt::format("{} ({} x {})", print.hardware, print.devices, print.device);
    for (const ServingRecord& serving : cell->serving) {
      Lane lane{cell, &serving, BaselineServing(view, cell->key, serving.name), {}, {}};
      for (const Check* check : view.ChecksOf(cell->key)) {
        if (Benchmark(*check) == serving.name) lane.checks.push_back(check);
      }
      const auto group = std::find_if(groups.begin(), groups.end(), [&](const LaneGroup& g) {
        return g.shape == serving.name && g.machine == machine;
      });
      if (group == groups.end()) {
        groups.push_back({serving.name, machine, {std::move(lane)}});
      } else {
        group->lanes.push_back(std::move(lane));
      }
    }
  }
  for (LaneGroup& group : groups) NameLanes(group.lanes);
  return groups;
}

const Check* CheckOf(const Lane& lane, const std::string& metric) {
  for (const Check* check : lane.checks) {
    if (check->metric == metric) return check;
  }
  return nullptr;
}

std::vector<std::string> MetricsOf(const LaneGroup& group) {
  std::vector<std::string> metrics;
  for (const Lane& lane : group.lanes) {
    for (const Check* check : lane.checks) {
      if (std::find(metrics.begin(), metrics.end(), check->metric) == metrics.end())
        metrics.push_back(check->metric);
    }
  }
  return metrics;
}

const ServingRecord* BaselineServing(const View& view, const std::string& cell,
                                     const std::string& benchmark) {
  const auto found = view.baseline.find(cell);
  if (found == view.baseline.end()) return nullptr;
  for (const CellRecord* earlier : found->second) {
    for (const ServingRecord& serving : earlier->serving) {
      if (serving.name == benchmark) return &serving;
    }
  }
  return nullptr;
}

}  // namespace assay::reports
