#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "gate/policy.h"
#include "record/run_record.h"
#include "record/verdict.h"

namespace assay::runner {

// What is known of a stored run without reading its record.
struct StoredCell {
  std::string key, config_hash;
  std::string host;      // of its fingerprint
  bool eligible = true;  // later runs may be compared with it, if the run passed
  std::map<std::string, record::Outcome> metrics = {};  // that were compared (gate::ComparedMetrics)
};

struct StoredRun {
  std::string id, created, repository, branch, commit, status;
  int exit_code = 0;
  std::string record_sha256;
  std::vector<StoredCell> cells;
};

// Its record's part of it; what was compared is for the caller to add.
StoredRun Describe(const record::RunRecord& record, int exit_code, bool eligible = true);

// A cell of a stored run.
struct FoundCell {
  std::string commit, created;
  record::CellRecord cell;
};

struct BaselineQuery {
  std::string cell_key;
  std::string config_hash;  // "" is any
  std::string branch = "main";
  int limit = 10;
  std::optional<std::string> repository = {};  // absent: any
  std::string commit = {};                     // "" is any
};

// The history of runs, wherever it is kept: runs and acknowledgements are added, never changed; only a run
// that was resumed replaces itself. Several processes may write at once.
class BaselineStore {
 public:
  // A file is a SQLite store, a folder (or a name that ends in /) one file a run, http:// and https:// a
  // server.
  static Result<std::unique_ptr<BaselineStore>> Open(const std::string& place);
  virtual ~BaselineStore() = default;

  virtual Status Add(const StoredRun& run, const record::RunRecord& record) = 0;
  virtual Status Add(const gate::Acknowledgement& acknowledgement) = 0;
  virtual Result<std::vector<StoredRun>> Runs() = 0;  // newest first
  virtual Result<std::vector<gate::Acknowledgement>> Acknowledgements() = 0;
  // A record whose bytes are not those that were stored is refused.
  virtual Result<record::RunRecord> Load(const std::string& run_id) = 0;
  virtual std::string Place() const = 0;
  // It turned out, when something was to be added, that this place is for reading only.
  virtual bool IsReadOnly() const { return false; }

  Status Add(const record::RunRecord& record, int exit_code, bool eligible = true) {
    return Add(Describe(record, exit_code, eligible), record);
  }
  // Cells of completed, passing (exit code 0), eligible runs that match, newest first.
  Result<std::vector<FoundCell>> FindDated(const BaselineQuery& query);
  Result<std::vector<record::CellRecord>> Find(const BaselineQuery& query);
};

// $ASSAY_STORE, or $XDG_DATA_HOME/assay/store.db, or ~/.local/share/assay/store.db.
std::string DefaultStore();

// By kind; Open chooses.
Result<std::unique_ptr<BaselineStore>> OpenSqliteStore(const Path& file);
Result<std::unique_ptr<BaselineStore>> OpenFolderStore(const Path& folder);
Result<std::unique_ptr<BaselineStore>> OpenHttpStore(const std::string& url);

}  // namespace assay::runner
