#include "runner/store/baseline_store.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "runner/store/sqlite.h"
#include "runner/store/store_test_support.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const BaselineQuery kQuery{"tiny.smoke", "hash", "main", 10};

class Store : public ::testing::Test {
 protected:
  std::unique_ptr<BaselineStore> Open() {
    auto store = BaselineStore::Open(file_);
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
  }
  Error OpenError() {
    auto store = BaselineStore::Open(file_);
    EXPECT_FALSE(store);
    return store ? Error{} : store.error();
  }
  void Execute(const std::string& sql) {
    auto database = Database::Open(file_);
    ASSERT_TRUE(database);
    const Status status = (*database)->Run(sql);
    ASSERT_TRUE(status) << status.error().message;
  }

  const testing::TempDir folder_;
  const Path file_ = folder_ / "new/store.db";
};

std::vector<std::string> Configs(const std::vector<record::CellRecord>& cells) {
  std::vector<std::string> names;
  for (const auto& cell : cells) names.push_back(cell.config);
  return names;
}

TEST_F(Store, GivesBackWhatWasStored) {
  record::RunRecord record = NewRecord("r1");
  record.command = {"assay", "run", "x.yaml"};
  record.cells[0].accuracy.emplace();
  record.cells[0].accuracy->samples.resize(1);
  record.cells[0].accuracy->samples[0].id = "q1";
  ASSERT_TRUE(Open()->Add(record, 0));
  const auto loaded = Open()->Load("r1");  // by another connection
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(record::ToJson(*loaded), record::ToJson(record));
}

TEST_F(Store, FindsMatchingCellsNewestFirst) {
  const auto store = Open();
  ASSERT_TRUE(store->Add(NewRecord("old", "2026-11-28T00:00:00Z"), 0));
  ASSERT_TRUE(store->Add(NewRecord("new", "2026-11-30T00:00:00Z"), 0));
  ASSERT_TRUE(store->Add(NewRecord("middle", "2026-11-29T00:00:00Z"), 0));
  EXPECT_THAT(Configs(*store->Find(kQuery)), ElementsAre("new", "middle", "old"));
  BaselineQuery two = kQuery;
  two.limit = 2;
  EXPECT_THAT(Configs(*store->Find(two)), ElementsAre("new", "middle"));
}

TEST_F(Store, OrdersRunsOfOneSecondByArrival) {
  const auto store = Open();
  ASSERT_TRUE(store->Add(NewRecord("first"), 0));
  ASSERT_TRUE(store->Add(NewRecord("second"), 0));
  EXPECT_THAT(Configs(*store->Find(kQuery)), ElementsAre("second", "first"));
}

TEST_F(Store, OffersNoRunThatFailedOrWasNotComplete) {
  const auto store = Open();
  record::RunRecord interrupted = NewRecord("interrupted");
  interrupted.status = "interrupted";
  ASSERT_TRUE(store->Add(interrupted, 0));
  ASSERT_TRUE(store->Add(NewRecord("failed"), 1));
  ASSERT_TRUE(store->Add(NewRecord("machine"), 75));
  record::RunRecord other = NewRecord("branch");
  other.branch = "topic";
  ASSERT_TRUE(store->Add(other, 0));
  other = NewRecord("config");
  other.cells[0].config_hash = "another";
  ASSERT_TRUE(store->Add(other, 0));
  other = NewRecord("key");
  other.cells[0].key = "another";
  ASSERT_TRUE(store->Add(other, 0));
  EXPECT_THAT(*store->Find(kQuery), IsEmpty());
  EXPECT_EQ(store->Runs()->size(), 6u);
}

TEST_F(Store, FindsTheRightCellOfARunOfMany) {
  record::RunRecord record = NewRecord("r1");
  record.cells.push_back(record.cells[0]);
  record.cells[1].key = "second";
  record.cells[1].config = "the second";
  const auto store = Open();
  ASSERT_TRUE(store->Add(record, 0));
  EXPECT_THAT(Configs(*store->Find({"second", "hash", "main", 10})), ElementsAre("the second"));
}

TEST_F(Store, SaysOfEachRunWhatItsCellsAreAndWhatWasCompared) {
  record::RunRecord record = NewRecord("r1");
  record.cells.push_back(record.cells[0]);
  record.cells[1].key = "second";
  record.cells[1].fingerprint.host = "h2";
  const auto store = Open();
  StoredRun run = Describe(record, 3);
  run.cells[0].metrics = {{"gpqa_score", record::Outcome::kFail}};
  run.cells[1].eligible = false;
  ASSERT_TRUE(store->Add(run, record));
  const auto runs = *store->Runs();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].id, "r1");
  EXPECT_EQ(runs[0].commit, "abc");
  EXPECT_EQ(runs[0].exit_code, 3);
  ASSERT_EQ(runs[0].cells.size(), 2u);
  EXPECT_EQ(runs[0].cells[0].key, "tiny.smoke");
  EXPECT_EQ(runs[0].cells[0].metrics, run.cells[0].metrics);
  EXPECT_TRUE(runs[0].cells[0].eligible);
  EXPECT_EQ(runs[0].cells[1].host, "h2");
  EXPECT_FALSE(runs[0].cells[1].eligible);
}

TEST_F(Store, ReplacesARunThatWasResumed) {
  const auto store = Open();
  record::RunRecord record = NewRecord("r1");
  record.status = "interrupted";
  ASSERT_TRUE(store->Add(record, 130));
  record.status = "complete";
  ASSERT_TRUE(store->Add(record, 0));
  EXPECT_EQ(store->Runs()->size(), 1u);
  EXPECT_EQ(store->Find(kQuery)->size(), 1u);
}

TEST_F(Store, SaysThatItHasNoSuchRun) {
  const auto loaded = Open()->Load("nope");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("has no run nope; `assay baseline list`"));
}

// ---- files that are not as they should be

TEST_F(Store, RefusesAFileOfANewerAssay) {
  Open();
  Execute("PRAGMA user_version = 99");
  const Error error = OpenError();
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_THAT(error.message, HasSubstr("written by a newer assay (format 99, this one knows 2)"));
}

// What an assay of before wrote: format 1, whose runs were eligible and not their cells.
TEST_F(Store, BringsAFileOfFormatOneUpToDate) {
  std::filesystem::create_directories(file_.parent_path());
  Execute(R"(
    CREATE TABLE runs (id TEXT PRIMARY KEY NOT NULL, created TEXT NOT NULL, repository TEXT NOT NULL,
      branch TEXT NOT NULL, commit_id TEXT NOT NULL, status TEXT NOT NULL, exit_code INTEGER NOT NULL,
      eligible INTEGER NOT NULL, record_sha256 TEXT NOT NULL, record TEXT NOT NULL);
    CREATE TABLE cells (run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, position INTEGER NOT NULL,
      cell_key TEXT NOT NULL, config_hash TEXT NOT NULL, PRIMARY KEY (run_id, position));
    CREATE INDEX cells_by_key ON cells (cell_key, config_hash);
    CREATE INDEX runs_by_age ON runs (created);
    INSERT INTO runs VALUES ('good', '2026-11-01', '', 'main', 'c', 'complete', 0, 1, '', '');
    INSERT INTO runs VALUES ('none', '2026-11-02', '', 'main', 'c', 'complete', 0, 0, '', '');
    INSERT INTO cells VALUES ('good', 0, 'tiny.smoke', 'hash');
    INSERT INTO cells VALUES ('none', 0, 'tiny.smoke', 'hash');
    PRAGMA application_id = 1095979859;
    PRAGMA user_version = 1)");
  const auto store = Open();
  const auto runs = *store->Runs();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].id, "none");
  EXPECT_FALSE(runs[0].cells.at(0).eligible);
  EXPECT_TRUE(runs[1].cells.at(0).eligible);
  EXPECT_TRUE(store->Add(NewRecord("new"), 0));
}

TEST_F(Store, RefusesAnotherProgramsDatabase) {
  std::filesystem::create_directories(file_.parent_path());
  Execute("CREATE TABLE bookmarks (url TEXT)");
  EXPECT_THAT(OpenError().message, HasSubstr("is a SQLite file of another program"));
}

TEST_F(Store, RefusesAFileThatIsNoDatabase) {
  std::filesystem::create_directories(file_.parent_path());
  ASSERT_TRUE(WriteFileAtomic(file_, std::string(4096, 'x')));
  const Error error = OpenError();
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_THAT(error.message, HasSubstr("this is no assay store"));
  EXPECT_THAT(error.message, HasSubstr(file_.string()));
}

TEST_F(Store, RefusesADamagedFile) {
  const auto store = Open();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(store->Add(NewRecord("r" + std::to_string(i)), 0));
  Execute("PRAGMA wal_checkpoint(TRUNCATE)");
  std::string bytes = *ReadFile(file_);
  for (size_t at = 4096; at + 64 < bytes.size(); at += 4096)
    bytes.replace(at, 64, 64, '\xff');  // every page's head
  ASSERT_TRUE(WriteFileAtomic(file_, bytes));
  const Error error = OpenError();
  EXPECT_EQ(error.kind, ErrorKind::kInvalid);
  EXPECT_THAT(error.message, HasSubstr("the store is damaged"));
}

TEST_F(Store, NoticesAChangedRecordByItsHash) {
  const auto store = Open();
  ASSERT_TRUE(store->Add(NewRecord("r1"), 0));
  Execute("UPDATE runs SET record = replace(record, 'abc', 'abd')");
  const auto loaded = store->Load("r1");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(loaded.error().message, HasSubstr("run r1: its record is damaged"));
}

TEST_F(Store, NamesAFolderThatMayNotBeWritten) {
  ASSERT_TRUE(Open()->Add(NewRecord("r1"), 0));
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod(file_.parent_path().c_str(), 0555);
  ::chmod(file_.c_str(), 0444);
  const pid_t child = Fork([&] {
    if (::getuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setuid(65534) != 0)) return false;
    const auto store = BaselineStore::Open(file_);
    return !store && store.error().kind == ErrorKind::kUsage &&
           store.error().message.find("the store and its folder must be writable") != std::string::npos;
  });
  EXPECT_EQ(Wait(child), 0);
  ::chmod(file_.parent_path().c_str(), 0755);
}

// Puts a variable back at the end of the test.
class KeptVariable {
 public:
  explicit KeptVariable(const char* name) : name_(name) {
    if (const char* value = std::getenv(name)) value_ = value;
  }
  ~KeptVariable() {
    if (value_)
      ::setenv(name_, value_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> value_;
};

TEST(DefaultStore, FollowsTheEnvironment) {
  const KeptVariable store("ASSAY_STORE"), data("XDG_DATA_HOME"), home("HOME");
  ::setenv("ASSAY_STORE", "/a/b.db", 1);
  EXPECT_EQ(DefaultStore(), "/a/b.db");
  ::unsetenv("ASSAY_STORE");
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(DefaultStore(), "/data/assay/store.db");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  ::setenv("HOME", "/home/x", 1);
  EXPECT_EQ(DefaultStore(), "/home/x/.local/share/assay/store.db");
}

}  // namespace
}  // namespace assay::runner
