#include "runner/store/baseline_store.h"

#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>

#include "runner/store/sqlite.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

record::RunRecord NewRecord(const std::string& id, const std::string& created = "2026-11-30T10:00:00Z") {
  record::RunRecord record;
  record.id = id;
  record.created = created;
  record.branch = "main";
  record.commit = "abc";
  record.cells.resize(1);
  record.cells[0].key = "tiny.smoke";
  record.cells[0].config_hash = "hash";
  record.cells[0].config = id;  // tells the cells apart
  return record;
}

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
  EXPECT_EQ(store->List(100)->size(), 6u);
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

TEST_F(Store, ListsACellALine) {
  record::RunRecord record = NewRecord("r1");
  record.cells.push_back(record.cells[0]);
  record.cells[1].key = "second";
  const auto store = Open();
  ASSERT_TRUE(store->Add(record, 3));
  const auto runs = *store->List(10);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].run_id, "r1");
  EXPECT_EQ(runs[0].cell_key, "tiny.smoke");
  EXPECT_EQ(runs[1].cell_key, "second");
  EXPECT_EQ(runs[1].commit, "abc");
  EXPECT_EQ(runs[1].exit_code, 3);
}

TEST_F(Store, ReplacesARunThatWasResumed) {
  const auto store = Open();
  record::RunRecord record = NewRecord("r1");
  record.status = "interrupted";
  ASSERT_TRUE(store->Add(record, 130));
  record.status = "complete";
  ASSERT_TRUE(store->Add(record, 0));
  EXPECT_EQ(store->List(10)->size(), 1u);
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
  EXPECT_THAT(error.message, HasSubstr("written by a newer assay (format 99, this one knows 1)"));
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

// Runs `body` in a process of its own, which ends with its answer.
pid_t Fork(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  return child;
}

int Wait(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
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

// ---- several processes at once

TEST_F(Store, TakesManyWritersFromTheFirstMomentOn) {
  constexpr int kWriters = 6, kRuns = 15;
  std::vector<pid_t> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.push_back(Fork([&] {
      const auto store = BaselineStore::Open(file_);
      for (int i = 0; store && i < kRuns; ++i)
        if (!(*store)->Add(NewRecord("w" + std::to_string(w) + "-" + std::to_string(i)), 0)) return false;
      return store.has_value();
    }));
  }
  for (const pid_t writer : writers) EXPECT_EQ(Wait(writer), 0);
  EXPECT_EQ(Open()->List(1000)->size(), size_t{kWriters * kRuns});
}

TEST_F(Store, LosesNothingCommittedWhenAWriterIsKilled) {
  Open();
  int acknowledged[2];
  ASSERT_EQ(::pipe(acknowledged), 0);
  const pid_t writer = Fork([&] {
    const auto store = BaselineStore::Open(file_);
    for (int i = 0; store; ++i) {
      if (!(*store)->Add(NewRecord("r" + std::to_string(i)), 0)) return false;
      if (::write(acknowledged[1], "x", 1) != 1) return false;
    }
    return false;
  });
  ::close(acknowledged[1]);
  char mark;
  size_t committed = 0;
  while (committed < 20 && ::read(acknowledged[0], &mark, 1) == 1) ++committed;
  ::kill(writer, SIGKILL);
  const int status = Wait(writer);
  EXPECT_TRUE(WIFSIGNALED(status));
  while (::read(acknowledged[0], &mark, 1) == 1) ++committed;  // what it had said before it died
  ::close(acknowledged[0]);

  const auto store = Open();
  const size_t kept = store->List(100000)->size();
  EXPECT_GE(kept, committed);
  EXPECT_LE(kept, committed + 1);  // one may have been committed and not yet said
  EXPECT_TRUE(store->Add(NewRecord("after"), 0));
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

TEST(DefaultStoreFile, FollowsTheEnvironment) {
  const KeptVariable store("ASSAY_STORE"), data("XDG_DATA_HOME"), home("HOME");
  ::setenv("ASSAY_STORE", "/a/b.db", 1);
  EXPECT_EQ(DefaultStoreFile(), "/a/b.db");
  ::unsetenv("ASSAY_STORE");
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(DefaultStoreFile(), "/data/assay/store.db");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  ::setenv("HOME", "/home/x", 1);
  EXPECT_EQ(DefaultStoreFile(), "/home/x/.local/share/assay/store.db");
}

}  // namespace
}  // namespace assay::runner
