#include "runner/store/sqlite.h"

#include <sqlite3.h>

namespace assay::runner {
namespace {

constexpr int kBusyMilliseconds = 30000;

struct Advice {
  ErrorKind kind;
  const char* text;
};

// What the user can do about it decides the kind: a retry helps against a full disk, not against a wrong
// file.
Advice AdviceFor(int code) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return {ErrorKind::kUsage, "this is no assay store; name another file with $ASSAY_STORE"};
    case SQLITE_CORRUPT:
      return {ErrorKind::kInvalid,
              "the store is damaged; move it and its -wal file away, or restore a copy, and run again"};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorKind::kUsage,
              "the store and its folder must be writable; $ASSAY_STORE names another file"};
    case SQLITE_FULL:
      return {ErrorKind::kInfrastructure, "the disk is full"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::kInfrastructure, "another process kept it locked for half a minute"};
    default:
      return {ErrorKind::kInfrastructure, "the store cannot be used"};
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Statement& Statement::Bind(const std::string& value) {
  sqlite3_bind_text(statement_.get(), next_parameter_++, value.data(), static_cast<int>(value.size()),
                    nullptr);
  return *this;
}

Statement& Statement::Bind(int64_t value) {
  sqlite3_bind_int64(statement_.get(), next_parameter_++, value);
  return *this;
}

Result<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected<Error>(database_->LastError());
}

std::string Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

int64_t Statement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

Error Database::LastError() const {
  const Advice advice = AdviceFor(sqlite3_extended_errcode(handle_.get()));
  return {advice.kind, fmt::format("{}: {}: {}", file_.string(), sqlite3_errmsg(handle_.get()), advice.text)};
}

Result<std::unique_ptr<Database>> Database::Open(const Path& file) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      file.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, nullptr);
  std::unique_ptr<Database> database(new Database(file, handle));
  if (code != SQLITE_OK) return tl::unexpected<Error>(database->LastError());
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  return database;
}

Status Database::Run(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected<Error>(LastError());
}

Result<Statement> Database::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    return tl::unexpected<Error>(LastError());
  return Statement(this, statement);
}

Result<std::string> Database::Value(const std::string& sql) {
  ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  ASSIGN_OR_RETURN(const bool found, statement.Step());
  return found ? statement.Text(0) : "";
}

}  // namespace assay::runner
