#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "runner/store/baseline_store.h"
#include "runner/store/entry.h"
#include "runner/store/http_files.h"

namespace assay::runner {
namespace {

constexpr char kIndex[] = "index.json";
constexpr int kAttempts = 20;

void PauseAtRandom() {
  static thread_local std::mt19937 random(std::random_device{}());
  std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 200));
}

// index.json and a file for each run. A run is written before the index that names it, and the index only
// over the one that was read, so that of several writers none is lost; where the server gives no ETags it is
// read again to see whether somebody else's came last.
class HttpStore final : public BaselineStore {
 public:
  explicit HttpStore(const std::string& url) : files_(url) {}

  using BaselineStore::Add;
  Status Add(const StoredRun& run, const record::RunRecord& record) override {
    RETURN_IF_ERROR(CheckId(run.id));
    const std::string text = RunEntryText(run, record);
    ASSIGN_OR_RETURN(const StoredRun head, ParseRunHead(text.substr(0, text.find('\n')), Place()));
    ASSIGN_OR_RETURN(const PutEnd end, files_.Put(RunFileName(run.id), text, ""));
    if (end == PutEnd::kReadOnly) return ForReadingOnly();
    const auto is_it = [&](const StoredRun& other) { return other.id == head.id; };
    return ChangeIndex(
        [&](const StoreIndex& index) {
          const auto found = std::find_if(index.runs.begin(), index.runs.end(), is_it);
          return found != index.runs.end() && found->record_sha256 == head.record_sha256;
        },
        [&](StoreIndex& index) {
          std::erase_if(index.runs, is_it);
          index.runs.push_back(head);
          SortNewestFirst(index.runs);
        });
  }

  Status Add(const gate::Acknowledgement& acknowledgement) override {
    const auto is_it = [&](const gate::Acknowledgement& other) { return other.id == acknowledgement.id; };
    return ChangeIndex(
        [&](const StoreIndex& index) {
          return std::any_of(index.acknowledgements.begin(), index.acknowledgements.end(), is_it);
        },
        [&](StoreIndex& index) { index.acknowledgements.push_back(acknowledgement); });
  }

  Result<std::vector<StoredRun>> Runs() override {
    ASSIGN_OR_RETURN(Read read, ReadIndex());
    for (const StoredRun& run : read.index.runs) {
      if (Status status = CheckId(run.id); !status)
        return FailWithin(Place() + "/" + kIndex, std::move(status).error());
    }
    SortNewestFirst(read.index.runs);
    return std::move(read.index.runs);
  }

  Result<std::vector<gate::Acknowledgement>> Acknowledgements() override {
    ASSIGN_OR_RETURN(Read read, ReadIndex());
    SortOldestFirst(read.index.acknowledgements);
    return std::move(read.index.acknowledgements);
  }

  Result<record::RunRecord> Load(const std::string& run_id) override {
    RETURN_IF_ERROR(CheckId(run_id));
    ASSIGN_OR_RETURN(const auto file, files_.Get(RunFileName(run_id)));
    if (!file) return NoSuchRun(Place(), run_id);
    return ParseRunEntry(file->text, Place() + "/" + RunFileName(run_id));
  }

  std::string Place() const override { return files_.Name(); }
  bool IsReadOnly() const override { return read_only_; }

 private:
  struct Read {
    StoreIndex index;
    std::optional<std::string> etag;  // absent: there is no index yet
  };

  Result<Read> ReadIndex() const {
    ASSIGN_OR_RETURN(const auto file, files_.Get(kIndex));
    if (!file) return Read{};
    ASSIGN_OR_RETURN(StoreIndex index, ParseIndex(file->text, Place() + "/" + kIndex));
    return Read{std::move(index), file->etag};
  }

  template <typename IsDone, typename Change>
  Status ChangeIndex(const IsDone& is_done, const Change& change) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      ASSIGN_OR_RETURN(Read read, ReadIndex());
      if (is_done(read.index)) return {};
      change(read.index);
      ASSIGN_OR_RETURN(const PutEnd end, files_.Put(kIndex, IndexText(read.index), read.etag));
      if (end == PutEnd::kReadOnly) return ForReadingOnly();
      if (end == PutEnd::kWritten && read.etag && !read.etag->empty()) return {};
      if (end == PutEnd::kReplaced || attempt > 0) PauseAtRandom();
    }
    return Fail(ErrorKind::kInfrastructure, "{}/{}: others changed it each of {} times that we tried to",
                Place(), kIndex, kAttempts);
  }

  tl::unexpected<Error> ForReadingOnly() {
    read_only_ = true;
    return Fail(ErrorKind::kUsage, "{}: takes no PUT: it is for reading only", Place());
  }

  const HttpFiles files_;
  bool read_only_ = false;
};

}  // namespace

Result<std::unique_ptr<BaselineStore>> OpenHttpStore(const std::string& url) {
  return std::make_unique<HttpStore>(url);
}

}  // namespace assay::runner
