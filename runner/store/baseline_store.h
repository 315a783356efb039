#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "record/run_record.h"

namespace assay::runner {

struct BaselineQuery {
  std::string cell_key;
  std::string config_hash;  // "" is any
  std::string branch = "main";
  int limit = 10;
  std::optional<std::string> repository = {};  // absent: any
};

struct StoredRun {
  std::string run_id, created, branch, commit, cell_key, status;
  int exit_code = 0;
};

// History of runs. One SQLite file in WAL mode: several processes may write at once, a reader never blocks, a
// killed writer loses nothing that was committed.
class BaselineStore {
 public:
  // Opens or makes the file; refuses one whose user_version is newer than ours or whose integrity check
  // fails.
  static Result<std::unique_ptr<BaselineStore>> Open(const Path& file);
  virtual ~BaselineStore() = default;

  // `eligible`: later runs may be compared with it, if it passed.
  virtual Status Add(const record::RunRecord& record, int exit_code, bool eligible) = 0;
  Status Add(const record::RunRecord& record, int exit_code) { return Add(record, exit_code, true); }
  // Cells of completed, passing (exit code 0), eligible runs that match, newest first.
  virtual Result<std::vector<record::CellRecord>> Find(const BaselineQuery& query) = 0;
  virtual Result<std::vector<StoredRun>> List(int limit) = 0;
  virtual Result<record::RunRecord> Load(const std::string& run_id) = 0;
};

// $ASSAY_STORE, or $XDG_DATA_HOME/assay/store.db, or ~/.local/share/assay/store.db.
Path DefaultStoreFile();

}  // namespace assay::runner
