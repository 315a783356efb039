#include "runner/store/history.h"

#include <algorithm>

#include "base/log.h"

namespace assay::runner {
namespace {

bool IsWanted(const StoredRun& run, const HistoryQuery& query) {
  const bool measured = run.exit_code == 0 || run.exit_code == 1 || run.exit_code == 3;
  const bool has_cell = std::any_of(run.cells.begin(), run.cells.end(), [&](const StoredCell& cell) {
    return query.cell.empty() || cell.key == query.cell;
  });
  return measured && has_cell && run.status == "complete" && run.branch == query.branch;
}

}  // namespace

Result<std::vector<gate::HistoryRun>> ReadHistory(BaselineStore& store, const HistoryQuery& query) {
  ASSIGN_OR_RETURN(const std::vector<StoredRun> runs, store.Runs());
  std::vector<gate::HistoryRun> history;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (!IsWanted(*run, query)) continue;
    const auto record = store.Load(run->id);
    if (!record) {
      spdlog::warn("passed over: {}", record.error().message);
      continue;
    }
    for (const record::CellRecord& cell : record->cells) {
      if (!query.cell.empty() && cell.key != query.cell) continue;
      gate::HistoryRun one{run->id,
                           run->created,
                           run->commit,
                           cell.key,
                           cell.config_hash,
                           cell.fingerprint,
                           record::AllMetrics(cell)};
      std::erase_if(one.metrics, [&](const record::Metric& metric) {
        return (!query.metric.empty() && metric.name != query.metric) ||
               (query.wanted != nullptr && !query.wanted(metric.name));
      });
      history.push_back(std::move(one));
    }
  }
  return history;
}

}  // namespace assay::runner
