#include "runner/store/baseline_store.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/text.h"
#include "gate/regression.h"
#include "runner/cli/exit_code.h"

namespace assay::runner {
namespace {

bool Matches(const StoredRun& run, const BaselineQuery& query) {
  return run.status == "complete" && run.branch == query.branch &&
         (!query.repository || run.repository == *query.repository) &&
         (query.commit.empty() || run.commit == query.commit);
}

const StoredCell* CellOf(const StoredRun& run, const BaselineQuery& query) {
  if (!Matches(run, query)) return nullptr;
  for (const StoredCell& cell : run.cells) {
    if (cell.key == query.cell_key && (query.config_hash.empty() || cell.config_hash == query.config_hash))
      return &cell;
  }
  return nullptr;
}

bool AtAnotherPace(const StoredRun& run, const StoredCell& cell) {
  const auto pace = cell.metrics.find(gate::kMachinePace);
  return run.exit_code == kExitInvalid && pace != cell.metrics.end() &&
         pace->second == record::Outcome::kInvalid;
}

// The runs in a row that showed a new pace of their host, by index; what came before is of another machine.
struct PaceChange {
  size_t newest = 0, oldest = 0;
};

// The last one of each host.
std::map<std::string, PaceChange> PaceChanges(const std::vector<StoredRun>& newest_first,
                                              const BaselineQuery& query) {
  std::map<std::string, PaceChange> changes;
  std::map<std::string, std::vector<size_t>> in_a_row;
  for (size_t i = newest_first.size(); i-- > 0 && query.new_pace_after > 0;) {
    const StoredCell* cell = CellOf(newest_first[i], query);
    if (cell == nullptr) continue;
    std::vector<size_t>& row = in_a_row[cell->host];
    if (!AtAnotherPace(newest_first[i], *cell))
      row.clear();
    else
      row.push_back(i);
    if (std::ssize(row) < query.new_pace_after) continue;
    changes[cell->host] = {row.back(), row.front()};
    row.clear();  // the next is held against these
  }
  return changes;
}

bool MayBeBaseline(const StoredRun& run, size_t index, const StoredCell& cell,
                   const std::map<std::string, PaceChange>& pace_changes) {
  if (!cell.eligible) return false;
  const auto change = pace_changes.find(cell.host);
  if (change == pace_changes.end()) return run.exit_code == kExitPass;
  if (index > change->second.oldest) return false;
  return run.exit_code == kExitPass || (index >= change->second.newest && AtAnotherPace(run, cell));
}

Path Home() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_dir : ".";
}

}  // namespace

StoredRun Describe(const record::RunRecord& record, int exit_code, bool eligible) {
  StoredRun run{record.id,
                record.created,
                record.repository,
                record.branch,
                record.commit,
                record.status,
                exit_code,
                "",
                {}};
  for (const record::CellRecord& cell : record.cells)
    run.cells.push_back({cell.key, cell.config_hash, cell.fingerprint.host, eligible});
  return run;
}

Result<std::vector<FoundCell>> BaselineStore::FindDated(const BaselineQuery& query) {
  ASSIGN_OR_RETURN(const std::vector<StoredRun> runs, Runs());
  std::vector<FoundCell> found;
  const std::map<std::string, PaceChange> pace_changes = PaceChanges(runs, query);
  for (size_t i = 0; i < runs.size(); ++i) {
    const StoredRun& run = runs[i];
    const StoredCell* cell = CellOf(run, query);
    if (cell == nullptr || !MayBeBaseline(run, i, *cell, pace_changes)) continue;
    if (found.size() >= static_cast<size_t>(query.limit)) break;
    ASSIGN_OR_RETURN(record::RunRecord record, Load(run.id));
    const auto position = static_cast<size_t>(cell - run.cells.data());
    if (position >= record.cells.size() || record.cells[position].key != query.cell_key)
      return Fail(ErrorKind::kInvalid,
                  "{}: run {}: its record has not the cells it is stored with; restore a copy", Place(),
                  run.id);
    found.push_back({record.commit, record.created, std::move(record.cells[position])});
  }
  return found;
}

Result<std::vector<record::CellRecord>> BaselineStore::Find(const BaselineQuery& query) {
  ASSIGN_OR_RETURN(std::vector<FoundCell> dated, FindDated(query));
  std::vector<record::CellRecord> cells;
  for (FoundCell& one : dated) cells.push_back(std::move(one.cell));
  return cells;
}

Result<std::unique_ptr<BaselineStore>> BaselineStore::Open(const std::string& place) {
  if (StartsWith(place, "http://") || StartsWith(place, "https://")) return OpenHttpStore(place);
  if (place.find("://") != std::string::npos) {
    return Fail(
        ErrorKind::kUsage,
        "{}: a store is a file, a folder or an http(s) address; for git see assay baseline push and pull",
        place);
  }
  std::error_code ignored;
  if (place.ends_with('/') || std::filesystem::is_directory(place, ignored)) return OpenFolderStore(place);
  return OpenSqliteStore(place);
}

std::string DefaultStore() {
  if (const char* place = std::getenv("ASSAY_STORE"); place != nullptr && *place != '\0') return place;
  // The XDG base directory specification: a relative path is invalid and is ignored.
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/')
    return (Path(data) / "assay/store.db").string();
  return (Home() / ".local/share/assay/store.db").string();
}

}  // namespace assay::runner
