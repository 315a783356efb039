#include "runner/store/regressions.h"

#include <fmt/format.h>

#include <set>
#include <tuple>

namespace assay::runner {

std::vector<gate::JudgedRun> JudgedRuns(const std::vector<StoredRun>& newest_first, const CellLine& line) {
  std::vector<gate::JudgedRun> judged;
  for (auto run = newest_first.rbegin(); run != newest_first.rend(); ++run) {
    if (run->branch != line.branch || (line.repository && run->repository != *line.repository)) continue;
    for (const StoredCell& cell : run->cells) {
      if (cell.key != line.cell_key || cell.config_hash != line.config_hash || cell.host != line.host)
        continue;
      judged.push_back({run->id, run->created, run->commit, cell.metrics});
    }
  }
  return judged;
}

std::vector<OpenRegression> AllOpenRegressions(const std::vector<StoredRun>& newest_first) {
  std::set<std::tuple<std::string, std::string, std::string, std::string, std::string>> lines;
  for (const StoredRun& run : newest_first) {
    for (const StoredCell& cell : run.cells)
      lines.emplace(cell.key, cell.config_hash, cell.host, run.branch, run.repository);
  }
  std::vector<OpenRegression> open;
  for (const auto& [key, hash, host, branch, repository] : lines) {
    const CellLine line{key, hash, host, branch, repository};
    for (gate::Regression& regression : gate::OpenRegressions(JudgedRuns(newest_first, line)))
      open.push_back({line, std::move(regression)});
  }
  return open;
}

std::string Words(const gate::Regression& regression) {
  return fmt::format("{} fails since run {} of {}{}", regression.metric, regression.run_id,
                     regression.created.substr(0, 10),
                     regression.commit.empty() ? "" : " (commit " + regression.commit.substr(0, 12) + ")");
}

}  // namespace assay::runner
