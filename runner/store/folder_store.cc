#include <fstream>
#include <set>

#include "base/log.h"
#include "runner/store/baseline_store.h"
#include "runner/store/entry.h"

namespace assay::runner {
namespace {

// One file for each run and each acknowledgement (entry.h), written beside its name and renamed, so that any
// number of processes may write and a killed one leaves at most a file that nobody reads.
class FolderStore final : public BaselineStore {
 public:
  explicit FolderStore(Path folder) : folder_(std::move(folder)) {}

  using BaselineStore::Add;
  Status Add(const StoredRun& run, const record::RunRecord& record) override {
    RETURN_IF_ERROR(CheckId(run.id));
    return Write(RunFileName(run.id), RunEntryText(run, record));
  }

  Status Add(const gate::Acknowledgement& acknowledgement) override {
    RETURN_IF_ERROR(CheckId(acknowledgement.id));
    return Write(AcknowledgementFileName(acknowledgement.id), AcknowledgementText(acknowledgement));
  }

  Result<std::vector<StoredRun>> Runs() override {
    auto runs =
        ReadAll<StoredRun>("runs", [](const std::string& line, const Path& file) -> Result<StoredRun> {
          ASSIGN_OR_RETURN(StoredRun run, ParseRunHead(line, file.string()));
          if (run.id == file.stem().string()) return run;
          return Fail(ErrorKind::kInvalid, "{}: says that it is run {}", file.string(), run.id);
        });
    if (runs) SortNewestFirst(*runs);
    return runs;
  }

  Result<std::vector<gate::Acknowledgement>> Acknowledgements() override {
    auto all = ReadAll<gate::Acknowledgement>(
        "acknowledgements",
        [](const std::string& line, const Path& file) { return ParseAcknowledgement(line, file.string()); });
    if (all) SortOldestFirst(*all);
    return all;
  }

  Result<record::RunRecord> Load(const std::string& run_id) override {
    RETURN_IF_ERROR(CheckId(run_id));
    const Path file = folder_ / RunFileName(run_id);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return NoSuchRun(Place(), run_id);
    ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    return ParseRunEntry(text, file.string());
  }

  std::string Place() const override { return folder_.string(); }

 private:
  Status Write(const std::string& name, const std::string& text) const {
    const Path file = folder_ / name;
    RETURN_IF_ERROR(MakeFolders(file.parent_path()));
    return WriteFileAtomic(file, text);
  }

  // The first lines of all files of a kind.
  template <typename Entry, typename Parse>
  Result<std::vector<Entry>> ReadAll(const char* kind, const Parse& parse) {
    std::vector<Entry> entries;
    std::error_code error;
    std::filesystem::directory_iterator file(folder_ / kind, error);
    if (error == std::errc::no_such_file_or_directory) return entries;
    for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
      if (file->path().extension() != ".json") continue;
      Result<Entry> entry = parse(FirstLine(file->path()), file->path());
      if (entry) {
        entries.push_back(std::move(*entry));
      } else {
        PassOver(file->path(), entry.error());
      }
    }
    if (!error) return entries;  // a store that cannot be read is not an empty one
    return Fail(ErrorKind::kInfrastructure, "{}: {}", (folder_ / kind).string(), error.message());
  }

  static std::string FirstLine(const Path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string line;
    std::getline(in, line);
    return line;
  }

  // One bad file must not hide the others; each is named once.
  void PassOver(const Path& file, const Error& error) {
    if (named_.insert(file).second)
      spdlog::warn("passed over, as if it were not there: {}; remove it or restore a copy", error.message);
  }

  const Path folder_;
  std::set<Path> named_;
};

}  // namespace

Result<std::unique_ptr<BaselineStore>> OpenFolderStore(const Path& folder) {
  RETURN_IF_ERROR(MakeFolders(folder / "runs"));
  return std::make_unique<FolderStore>(folder);
}

}  // namespace assay::runner
