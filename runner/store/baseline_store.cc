#include "runner/store/baseline_store.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace assay::runner {
namespace {

<<<<<<< HEAD
bool MayBeBaseline(const StoredRun& run, const BaselineQuery& query) {
  return run.status == "complete" && run.exit_code == 0 && run.branch == query.branch &&
         (!query.repository || run.repository == *query.repository) &&
         (query.commit.empty() || run.commit == query.commit);
=======
class SqliteStore final : public BaselineStore {
 public:
  explicit SqliteStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  using BaselineStore::Add;
  Status Add(const record::RunRecord& record, int exit_code, bool eligible) override;
  Result<std::vector<gate::DatedCell>> FindDated(const BaselineQuery& query) override;
  Result<std::vector<StoredRun>> List(int limit) override;
  Result<record::RunRecord> Load(const std::string& run_id) override;

 private:
  Status AddRun(const record::RunRecord& record, int exit_code, bool eligible);
  Status AddCells(const record::RunRecord& record);
  Result<record::RunRecord> Parse(const std::string& id, const std::string& text,
                                  const std::string& hash) const;

  std::unique_ptr<Database> database_;
};

Status Finish(Statement& statement) {
  ASSIGN_OR_RETURN([[maybe_unused]] const bool row, statement.Step());
  return {};
}

// A run that is added again, because it was resumed, replaces what was there of it.
Status SqliteStore::Add(const record::RunRecord& record, int exit_code, bool eligible) {
  Status status = database_->Transaction([&]() -> Status {
    RETURN_IF_ERROR(AddRun(record, exit_code, eligible));
    return AddCells(record);
  });
  if (!status) return FailWithin("storing run " + record.id, std::move(status).error());
  return {};
}

Status SqliteStore::AddRun(const record::RunRecord& record, int exit_code, bool eligible) {
  const std::string text = record::ToJson(record).dump();
  const std::string hash = Sha256(text);
  ASSIGN_OR_RETURN(
      Statement statement,
      database_->Prepare("INSERT OR REPLACE INTO runs (id, created, repository, branch, commit_id, "
                         "status, exit_code, eligible, record_sha256, record) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  statement.Bind(record.id)
      .Bind(record.created)
      .Bind(record.repository)
      .Bind(record.branch)
      .Bind(record.commit);
  statement.Bind(record.status).Bind(int64_t{exit_code}).Bind(int64_t{eligible}).Bind(hash).Bind(text);
  return Finish(statement);
}

Status SqliteStore::AddCells(const record::RunRecord& record) {
  for (size_t i = 0; i < record.cells.size(); ++i) {
    const record::CellRecord& cell = record.cells[i];
    ASSIGN_OR_RETURN(Statement statement,
                     database_->Prepare("INSERT INTO cells (run_id, position, cell_key, config_hash) "
                                        "VALUES (?, ?, ?, ?)"));
    statement.Bind(record.id).Bind(static_cast<int64_t>(i)).Bind(cell.key).Bind(cell.config_hash);
    RETURN_IF_ERROR(Finish(statement));
  }
  return {};
}

Result<record::RunRecord> SqliteStore::Parse(const std::string& id, const std::string& text,
                                             const std::string& hash) const {
  const std::string source = fmt::format("{}: run {}", database_->file().string(), id);
  if (Sha256(text) != hash)
    return Fail(ErrorKind::kInvalid, "{}: its record is damaged; restore a copy of the store", source);
  return record::ParseRunRecord(text, source);
}

Result<std::vector<gate::DatedCell>> SqliteStore::FindDated(const BaselineQuery& query) {
  ASSIGN_OR_RETURN(
      Statement statement,
      database_->Prepare(
          "SELECT runs.id, runs.record, runs.record_sha256, cells.position "
          "FROM cells JOIN runs ON runs.id = cells.run_id "
          "WHERE cells.cell_key = ?1 AND (cells.config_hash = ?2 OR ?2 = '') AND runs.branch = ?3 "
          "AND (runs.repository = ?4 OR ?5 = 0) AND runs.eligible = 1 "
          "AND runs.status = 'complete' AND runs.exit_code = 0 "
          "ORDER BY runs.created DESC, runs.rowid DESC LIMIT ?6"));
  statement.Bind(query.cell_key).Bind(query.config_hash).Bind(query.branch);
  statement.Bind(query.repository.value_or(""))
      .Bind(int64_t{query.repository.has_value()})
      .Bind(int64_t{query.limit});
  std::vector<gate::DatedCell> cells;
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return cells;
    ASSIGN_OR_RETURN(record::RunRecord record,
                     Parse(statement.Text(0), statement.Text(1), statement.Text(2)));
    cells.push_back({record.commit, record.created,
                     std::move(record.cells.at(static_cast<size_t>(statement.Integer(3))))});
  }
}

Result<std::vector<StoredRun>> SqliteStore::List(int limit) {
  ASSIGN_OR_RETURN(
      Statement statement,
      database_->Prepare("SELECT runs.id, created, branch, commit_id, cell_key, status, exit_code "
                         "FROM runs LEFT JOIN cells ON runs.id = cells.run_id "
                         "ORDER BY created DESC, runs.rowid DESC, position LIMIT ?"));
  statement.Bind(int64_t{limit});
  std::vector<StoredRun> runs;
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return runs;
    runs.push_back({statement.Text(0), statement.Text(1), statement.Text(2), statement.Text(3),
                    statement.Text(4), statement.Text(5), static_cast<int>(statement.Integer(6))});
  }
}

Result<record::RunRecord> SqliteStore::Load(const std::string& run_id) {
  ASSIGN_OR_RETURN(Statement statement,
                   database_->Prepare("SELECT record, record_sha256 FROM runs WHERE id = ?"));
  statement.Bind(run_id);
  ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (found) return Parse(run_id, statement.Text(0), statement.Text(1));
  return Fail(ErrorKind::kUsage, "{}: has no run {}; `assay baseline list` shows those it has",
              database_->file().string(), run_id);
>>>>>>> 2c5fbdb (Judge the speeds of a run together, above the noise of equal code)
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

<<<<<<< HEAD
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
=======
Result<std::vector<record::CellRecord>> BaselineStore::Find(const BaselineQuery& query) {
  ASSIGN_OR_RETURN(std::vector<gate::DatedCell> dated, FindDated(query));
  std::vector<record::CellRecord> cells;
  for (gate::DatedCell& one : dated) cells.push_back(std::move(one.cell));
  return cells;
}

Path DefaultStoreFile() {
  if (const char* file = std::getenv("ASSAY_STORE"); file != nullptr && *file != '\0') return file;
>>>>>>> 2c5fbdb (Judge the speeds of a run together, above the noise of equal code)
  // The XDG base directory specification: a relative path is invalid and is ignored.
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data == '/')
    return (Path(data) / "assay/store.db").string();
  return (Home() / ".local/share/assay/store.db").string();
}

}  // namespace assay::runner
