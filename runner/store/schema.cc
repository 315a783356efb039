#include "runner/store/schema.h"

#include <chrono>
#include <iterator>
#include <thread>

namespace assay::runner {
namespace {

constexpr int64_t kApplicationId = 1095979859;  // "ASSY", in the file's header

// Entry i leads from version i to version i + 1; a released one is never changed. Records are kept as their
// JSON, with a hash because SQLite checks its own structure and not our bytes; what is searched has a column.
constexpr const char* kMigrations[] = {
    R"(
    CREATE TABLE runs (
      id TEXT PRIMARY KEY NOT NULL,
      created TEXT NOT NULL,
      repository TEXT NOT NULL,
      branch TEXT NOT NULL,
      commit_id TEXT NOT NULL,
      status TEXT NOT NULL,
      exit_code INTEGER NOT NULL,
      eligible INTEGER NOT NULL,
      record_sha256 TEXT NOT NULL,
      record TEXT NOT NULL
    );
    CREATE TABLE cells (
      run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      cell_key TEXT NOT NULL,
      config_hash TEXT NOT NULL,
      PRIMARY KEY (run_id, position)
    );
    CREATE INDEX cells_by_key ON cells (cell_key, config_hash);
    CREATE INDEX runs_by_age ON runs (created);
    )",
    // Eligible is a cell and no longer a run.
    R"(
    ALTER TABLE cells ADD COLUMN host TEXT NOT NULL DEFAULT '';
    ALTER TABLE cells ADD COLUMN eligible INTEGER NOT NULL DEFAULT 1;
    UPDATE cells SET eligible = (SELECT eligible FROM runs WHERE runs.id = run_id);
    CREATE TABLE outcomes (
      run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      metric TEXT NOT NULL,
      outcome TEXT NOT NULL,
      PRIMARY KEY (run_id, position, metric)
    );
    CREATE TABLE acknowledgements (
      id TEXT PRIMARY KEY NOT NULL,
      cell_key TEXT NOT NULL,
      metric TEXT NOT NULL,
      owner TEXT NOT NULL,
      reason TEXT NOT NULL,
      created TEXT NOT NULL,
      expires TEXT NOT NULL
    );
    )",
};
constexpr int kVersion = static_cast<int>(std::size(kMigrations));

Result<int> Version(Database& database) {
  ASSIGN_OR_RETURN(const std::string text, database.Value("PRAGMA user_version"));
  return std::stoi(text);
}

// Of one moment: read one after the other, the marks of a store that another process is just making look like
// those of a foreign file, without our mark and yet with tables.
struct Marks {
  int64_t version = 0, owner = 0, tables = 0;
};
Result<Marks> ReadMarks(Database& database) {
  ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare("SELECT (SELECT user_version FROM pragma_user_version), (SELECT "
                       "application_id FROM pragma_application_id), count(*) FROM sqlite_master"));
  ASSIGN_OR_RETURN([[maybe_unused]] const bool row, statement.Step());
  return Marks{statement.Integer(0), statement.Integer(1), statement.Integer(2)};
}

Status CheckOwner(const Database& database, const Marks& marks) {
  const bool empty = marks.owner == 0 && marks.version == 0 && marks.tables == 0;
  if (marks.owner == kApplicationId || empty) return {};
  return Fail(ErrorKind::kUsage,
              "{}: is a SQLite file of another program; name another file with $ASSAY_STORE",
              database.file().string());
}

Status CheckVersion(const Database& database, int64_t version) {
  if (version <= kVersion) return {};
  return Fail(
      ErrorKind::kUsage,
      "{}: was written by a newer assay (format {}, this one knows {}): update assay, or name another file "
      "with $ASSAY_STORE",
      database.file().string(), version, kVersion);
}

Status CheckIntegrity(Database& database) {
  ASSIGN_OR_RETURN(const std::string report, database.Value("PRAGMA quick_check(1)"));
  if (report == "ok") return {};
  return Fail(
      ErrorKind::kInvalid,
      "{}: the store is damaged ({}); move it and its -wal file away, or restore a copy, and run again",
      database.file().string(), report);
}

// Going to write-ahead logging needs the file alone for a moment, and SQLite does not wait for that by
// itself.
Status UseWriteAheadLog(Database& database) {
  constexpr int kAttempts = 3000;  // half a minute, as for every other lock
  Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    status = database.Run("PRAGMA journal_mode = WAL");
    if (status || status.error().kind != ErrorKind::kInfrastructure) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return status;
}

Status Migrate(Database& database) {
  return database.Transaction([&]() -> Status {
    ASSIGN_OR_RETURN(const int version, Version(database));  // again: another process may have been faster
    RETURN_IF_ERROR(CheckVersion(database, version));
    for (int next = version; next < kVersion; ++next) RETURN_IF_ERROR(database.Run(kMigrations[next]));
    RETURN_IF_ERROR(database.Run("PRAGMA application_id = " + std::to_string(kApplicationId)));
    return database.Run("PRAGMA user_version = " + std::to_string(kVersion));
  });
}

}  // namespace

Status PrepareStore(Database& database) {
  ASSIGN_OR_RETURN(const Marks marks, ReadMarks(database));
  RETURN_IF_ERROR(CheckOwner(database, marks));
  RETURN_IF_ERROR(CheckVersion(database, marks.version));
  RETURN_IF_ERROR(UseWriteAheadLog(database));
  RETURN_IF_ERROR(database.Run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  if (marks.version < kVersion) RETURN_IF_ERROR(Migrate(database));
  return CheckIntegrity(database);
}

}  // namespace assay::runner
