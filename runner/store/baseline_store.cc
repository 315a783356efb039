#include "runner/store/baseline_store.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace assay::runner {
namespace {

bool MayBeBaseline(const StoredRun& run, const BaselineQuery& query) {
  return run.status == "complete" && run.exit_code == 0 && run.branch == query.branch &&
         (!query.repository || run.repository == *query.repository) &&
         (query.commit.empty() || run.commit == query.commit);
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
  for (const StoredRun& run : runs) {
    if (!MayBeBaseline(run, query)) continue;
    const auto cell = std::find_if(run.cells.begin(), run.cells.end(), [&](const StoredCell& each) {
      return each.key == query.cell_key && each.eligible &&
             (query.config_hash.empty() || each.config_hash == query.config_hash);
    });
    if (cell == run.cells.end()) continue;
    if (found.size() >= static_cast<size_t>(query.limit)) break;
    ASSIGN_OR_RETURN(record::RunRecord record, Load(run.id));
    const auto position = static_cast<size_t>(cell - run.cells.begin());
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
