#include "runner/store/schema.h"

#include <chrono>
#include <iterator>
#include <thread>

namespace assay::runner {
namespace {

constexpr char kApplicationId[] = "1095979859";  // "ASSY", in the file's header

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
};
constexpr int kVersion = static_cast<int>(std::size(kMigrations));

Result<int> Version(Database& database) {
  ASSIGN_OR_RETURN(const std::string text, database.Value("PRAGMA user_version"));
  return std::stoi(text);
}

Status CheckOwner(Database& database, int version) {
  ASSIGN_OR_RETURN(const std::string owner, database.Value("PRAGMA application_id"));
  ASSIGN_OR_RETURN(const std::string tables, database.Value("SELECT count(*) FROM sqlite_master"));
  if (owner == kApplicationId || (owner == "0" && version == 0 && tables == "0")) return {};
  return Fail(ErrorKind::kUsage,
              "{}: is a SQLite file of another program; name another file with $ASSAY_STORE",
              database.file().string());
}

Status CheckVersion(Database& database, int version) {
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
  constexpr int kAttempts = 300;
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
    RETURN_IF_ERROR(database.Run(std::string("PRAGMA application_id = ") + kApplicationId));
    return database.Run("PRAGMA user_version = " + std::to_string(kVersion));
  });
}

}  // namespace

Status PrepareStore(Database& database) {
  ASSIGN_OR_RETURN(const int version, Version(database));
  RETURN_IF_ERROR(CheckOwner(database, version));
  RETURN_IF_ERROR(CheckVersion(database, version));
  RETURN_IF_ERROR(UseWriteAheadLog(database));
  RETURN_IF_ERROR(database.Run("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  if (version < kVersion) RETURN_IF_ERROR(Migrate(database));
  return CheckIntegrity(database);
}

}  // namespace assay::runner
