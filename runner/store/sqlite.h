#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

// SQLite as values and Results: its handles, codes and C strings stop here.
namespace assay::runner {

class Database;

// One statement. What is bound must live until it has been stepped through.
class Statement {
 public:
  Statement& Bind(const std::string& value);
  Statement& Bind(int64_t value);
  // True when there is a row, false when done.
  Result<bool> Step();
  // Columns of the row, from 0.
  std::string Text(int column) const;
  int64_t Integer(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(const Database* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_parameter_ = 1;
};

class Database {
 public:
  // Opens or makes the file. Waits on other writers instead of failing, for as long as half a minute.
  static Result<std::unique_ptr<Database>> Open(const Path& file);

  Status Run(const std::string& sql);
  Result<Statement> Prepare(const std::string& sql);
  // The only value of the only row: PRAGMA user_version.
  Result<std::string> Value(const std::string& sql);
  // `body` between BEGIN IMMEDIATE and COMMIT; rolled back when it fails.
  template <typename Body>
  Status Transaction(const Body& body) {
    RETURN_IF_ERROR(Run("BEGIN IMMEDIATE"));
    Status status = body();
    if (status) status = Run("COMMIT");
    if (!status) static_cast<void>(Run("ROLLBACK"));
    return status;
  }

  const Path& file() const { return file_; }

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database(Path file, sqlite3* handle) : file_(std::move(file)), handle_(handle) {}
  Error LastError() const;

  Path file_;
  std::unique_ptr<sqlite3, Close> handle_;
};

}  // namespace assay::runner
