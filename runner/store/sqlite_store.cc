#include "base/hash.h"
#include "record/enum_names.h"
#include "runner/store/baseline_store.h"
#include "runner/store/entry.h"
#include "runner/store/schema.h"
#include "runner/store/sqlite.h"

namespace assay::runner {
namespace {

class SqliteStore final : public BaselineStore {
 public:
  explicit SqliteStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  using BaselineStore::Add;
  Status Add(const StoredRun& run, const record::RunRecord& record) override;
  Status Add(const gate::Acknowledgement& acknowledgement) override;
  Result<std::vector<StoredRun>> Runs() override;
  Result<std::vector<gate::Acknowledgement>> Acknowledgements() override;
  Result<record::RunRecord> Load(const std::string& run_id) override;
  std::string Place() const override { return database_->file().string(); }

 private:
  Status AddRun(const StoredRun& run, const std::string& text);
  Status AddCell(const StoredRun& run, size_t position);
  Result<std::vector<StoredRun>> RunsAndCells();
  Status FillMetrics(std::vector<StoredRun>& runs);

  std::unique_ptr<Database> database_;
};

Status Finish(Statement& statement) {
  ASSIGN_OR_RETURN([[maybe_unused]] const bool row, statement.Step());
  return {};
}

// A run that is added again, because it was resumed, replaces what was there of it.
Status SqliteStore::Add(const StoredRun& run, const record::RunRecord& record) {
  const std::string text = RecordText(record);
  Status status = database_->Transaction([&]() -> Status {
    RETURN_IF_ERROR(AddRun(run, text));
    for (size_t i = 0; i < run.cells.size(); ++i) RETURN_IF_ERROR(AddCell(run, i));
    return {};
  });
  if (!status) return FailWithin("storing run " + run.id, std::move(status).error());
  return {};
}

Status SqliteStore::AddRun(const StoredRun& run, const std::string& text) {
  const std::string hash = Sha256(text);
  ASSIGN_OR_RETURN(
      Statement statement,
      database_->Prepare("INSERT OR REPLACE INTO runs (id, created, repository, branch, commit_id, "
                         "status, exit_code, eligible, record_sha256, record) "
                         "VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?)"));
  statement.Bind(run.id).Bind(run.created).Bind(run.repository).Bind(run.branch).Bind(run.commit);
  statement.Bind(run.status).Bind(int64_t{run.exit_code}).Bind(hash).Bind(text);
  return Finish(statement);
}

Status SqliteStore::AddCell(const StoredRun& run, size_t position) {
  const StoredCell& cell = run.cells[position];
  const auto place = static_cast<int64_t>(position);
  ASSIGN_OR_RETURN(Statement statement,
                   database_->Prepare("INSERT INTO cells (run_id, position, cell_key, config_hash, host, "
                                      "eligible) VALUES (?, ?, ?, ?, ?, ?)"));
  statement.Bind(run.id).Bind(place).Bind(cell.key).Bind(cell.config_hash).Bind(cell.host);
  statement.Bind(int64_t{cell.eligible});
  RETURN_IF_ERROR(Finish(statement));
  for (const auto& [metric, outcome] : cell.metrics) {
    const std::string name = record::Name(outcome);
    ASSIGN_OR_RETURN(
        Statement row,
        database_->Prepare("INSERT INTO outcomes (run_id, position, metric, outcome) VALUES (?, ?, ?, ?)"));
    row.Bind(run.id).Bind(place).Bind(metric).Bind(name);
    RETURN_IF_ERROR(Finish(row));
  }
  return {};
}

Status SqliteStore::Add(const gate::Acknowledgement& a) {
  ASSIGN_OR_RETURN(Statement statement,
                   database_->Prepare("INSERT OR REPLACE INTO acknowledgements (id, cell_key, metric, owner, "
                                      "reason, created, expires) VALUES (?, ?, ?, ?, ?, ?, ?)"));
  statement.Bind(a.id).Bind(a.cell).Bind(a.metric).Bind(a.owner).Bind(a.reason).Bind(a.created);
  statement.Bind(a.expires);
  return Finish(statement);
}

Result<std::vector<StoredRun>> SqliteStore::RunsAndCells() {
  ASSIGN_OR_RETURN(
      Statement statement,
      database_->Prepare("SELECT runs.id, created, repository, branch, commit_id, status, exit_code, "
                         "record_sha256, cell_key, config_hash, host, cells.eligible "
                         "FROM runs LEFT JOIN cells ON runs.id = cells.run_id "
                         "ORDER BY created DESC, runs.rowid DESC, position"));
  std::vector<StoredRun> runs;
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return runs;
    if (runs.empty() || runs.back().id != statement.Text(0)) {
      runs.push_back({statement.Text(0),
                      statement.Text(1),
                      statement.Text(2),
                      statement.Text(3),
                      statement.Text(4),
                      statement.Text(5),
                      static_cast<int>(statement.Integer(6)),
                      statement.Text(7),
                      {}});
    }
    if (statement.Text(8).empty()) continue;  // a run without a cell
    runs.back().cells.push_back(
        {statement.Text(8), statement.Text(9), statement.Text(10), statement.Integer(11) != 0});
  }
}

Status SqliteStore::FillMetrics(std::vector<StoredRun>& runs) {
  std::map<std::string, StoredRun*> by_id;
  for (StoredRun& run : runs) by_id[run.id] = &run;
  ASSIGN_OR_RETURN(Statement statement,
                   database_->Prepare("SELECT run_id, position, metric, outcome FROM outcomes"));
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return {};
    const auto run = by_id.find(statement.Text(0));
    const auto position = static_cast<size_t>(statement.Integer(1));
    if (run == by_id.end() || position >= run->second->cells.size()) continue;
    for (const auto& [outcome, name] : record::kNames<record::Outcome>) {
      if (statement.Text(3) == name) run->second->cells[position].metrics[statement.Text(2)] = outcome;
    }
  }
}

// Both queries see one moment.
Result<std::vector<StoredRun>> SqliteStore::Runs() {
  RETURN_IF_ERROR(database_->Run("BEGIN"));
  Result<std::vector<StoredRun>> runs = RunsAndCells();
  const Status filled = runs ? FillMetrics(*runs) : Status();
  static_cast<void>(database_->Run("COMMIT"));
  if (!filled) return tl::unexpected(filled.error());
  return runs;
}

Result<std::vector<gate::Acknowledgement>> SqliteStore::Acknowledgements() {
  ASSIGN_OR_RETURN(Statement statement,
                   database_->Prepare("SELECT id, cell_key, metric, owner, reason, created, expires "
                                      "FROM acknowledgements ORDER BY created, id"));
  std::vector<gate::Acknowledgement> all;
  for (;;) {
    ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return all;
    all.push_back({statement.Text(0), statement.Text(1), statement.Text(2), statement.Text(3),
                   statement.Text(4), statement.Text(5), statement.Text(6)});
  }
}

Result<record::RunRecord> SqliteStore::Load(const std::string& run_id) {
  ASSIGN_OR_RETURN(Statement statement,
                   database_->Prepare("SELECT record, record_sha256 FROM runs WHERE id = ?"));
  statement.Bind(run_id);
  ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (found) return ParseRecordText(statement.Text(0), statement.Text(1), Place() + ": run " + run_id);
  return NoSuchRun(Place(), run_id);
}

}  // namespace

Result<std::unique_ptr<BaselineStore>> OpenSqliteStore(const Path& file) {
  RETURN_IF_ERROR(MakeFolders(std::filesystem::absolute(file).parent_path()));
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(file));
  RETURN_IF_ERROR(PrepareStore(*database));
  return std::make_unique<SqliteStore>(std::move(database));
}

}  // namespace assay::runner
