// What holds for runs wherever they are kept.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runner/store/entry.h"
#include "runner/store/http_files.h"
#include "runner/store/store_test_support.h"
#include "testing/file_server.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const BaselineQuery kQuery{"tiny.smoke", "hash", "main", 10};

std::vector<std::string> Configs(const std::vector<record::CellRecord>& cells) {
  std::vector<std::string> names;
  for (const auto& cell : cells) names.push_back(cell.config);
  return names;
}

class EveryStore : public ::testing::TestWithParam<std::string> {
 protected:
  EveryStore() {
    if (GetParam() == "http") server_ = testing::FileServer::Start({});
    if (GetParam() == "http_without_etags") server_ = testing::FileServer::Start({.with_etags = false});
  }
  std::string Place() const {
    if (server_) return server_->Url();
    return (folder_ / (GetParam() == "folder" ? "store/" : "store.db")).string();
  }
  std::unique_ptr<BaselineStore> Open() const {
    auto store = BaselineStore::Open(Place());
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
  }

  const testing::TempDir folder_;
  std::unique_ptr<testing::FileServer> server_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, EveryStore,
                         ::testing::Values("sqlite", "folder", "http", "http_without_etags"),
                         [](const auto& test) { return test.param; });

TEST_P(EveryStore, BeginsEmpty) {
  EXPECT_THAT(*Open()->Runs(), IsEmpty());
  EXPECT_THAT(*Open()->Acknowledgements(), IsEmpty());
  EXPECT_THAT(Open()->Load("nope").error().message, HasSubstr("has no run nope; `assay baseline list`"));
}

TEST_P(EveryStore, GivesBackWhatWasStored) {
  record::RunRecord record = NewRecord("r1");
  record.repository = "git@example.com:r";
  StoredRun run = Describe(record, 1);
  run.cells[0].metrics = {{"gpqa_score", record::Outcome::kFail}};
  run.cells[0].eligible = false;
  ASSERT_TRUE(Open()->Add(run, record));
  const auto runs = *Open()->Runs();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].repository, record.repository);
  EXPECT_EQ(runs[0].exit_code, 1);
  EXPECT_EQ(runs[0].cells.at(0).metrics, run.cells[0].metrics);
  EXPECT_FALSE(runs[0].cells[0].eligible);
  const auto loaded = Open()->Load("r1");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(RecordText(*loaded), RecordText(record));
}

TEST_P(EveryStore, FindsPassingRunsNewestFirst) {
  const auto store = Open();
  ASSERT_TRUE(store->Add(NewRecord("old", "2026-11-28T00:00:00Z"), 0));
  ASSERT_TRUE(store->Add(NewRecord("new", "2026-11-30T00:00:00Z"), 0));
  ASSERT_TRUE(store->Add(NewRecord("bad", "2026-11-30T12:00:00Z"), 1));
  ASSERT_TRUE(store->Add(NewRecord("middle", "2026-11-29T00:00:00Z"), 0));
  record::RunRecord other = NewRecord("commit", "2026-11-27T00:00:00Z");
  other.commit = "def";
  ASSERT_TRUE(store->Add(other, 0));
  EXPECT_THAT(Configs(*store->Find(kQuery)), ElementsAre("new", "middle", "old", "commit"));
  BaselineQuery query = kQuery;
  query.commit = "def";
  EXPECT_THAT(Configs(*store->Find(query)), ElementsAre("commit"));
}

TEST_P(EveryStore, ReplacesARunThatWasResumed) {
  record::RunRecord record = NewRecord("r1");
  record.status = "interrupted";
  ASSERT_TRUE(Open()->Add(record, 130));
  record.status = "complete";
  ASSERT_TRUE(Open()->Add(record, 0));
  EXPECT_THAT(*Open()->Runs(), SizeIs(1));
  EXPECT_THAT(Configs(*Open()->Find(kQuery)), ElementsAre("r1"));
}

TEST_P(EveryStore, KeepsAcknowledgements) {
  ASSERT_TRUE(Open()->Add(NewAcknowledgement("a1")));
  const auto all = *Open()->Acknowledgements();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].metric, "gpqa_score");
  EXPECT_EQ(all[0].owner, "kim");
  EXPECT_EQ(all[0].expires, "2026-12-31");
}

TEST(FolderStore, NamesADamagedFileAndGoesOnWithTheOthers) {
  const testing::TempDir folder;
  const auto store = *BaselineStore::Open(folder.path().string());
  ASSERT_TRUE(store->Add(NewRecord("r1"), 0));
  folder.Write("runs/half.json", R"({"id": "half", "crea)");
  folder.Write("runs/r9.json", *ReadFile(folder / "runs/r1.json"));
  folder.Write("runs/r2.json.tmp77", "what a killed writer leaves");
  const auto runs = *store->Runs();
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].id, "r1");
}

TEST(FolderStore, RefusesARecordWhoseBytesChanged) {
  const testing::TempDir folder;
  const auto store = *BaselineStore::Open(folder.path().string());
  ASSERT_TRUE(store->Add(NewRecord("r1"), 0));
  std::string text = *ReadFile(folder / "runs/r1.json");
  text.replace(text.rfind("tiny"), 4, "tidy");
  folder.Write("runs/r1.json", text);
  const auto loaded = store->Load("r1");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(loaded.error().message, HasSubstr("runs/r1.json: its record is damaged"));
  EXPECT_FALSE(store->Find(kQuery)) << "a baseline that cannot be read is no missing one";
}

TEST(FolderStore, TakesNoIdThatLeadsOutOfIt) {
  const testing::TempDir folder;
  const auto store = *BaselineStore::Open((folder / "s/").string());
  for (const char* id : {"../r1", "a/b", "", ".hidden"}) {
    EXPECT_FALSE(store->Add(NewRecord(id), 0)) << id;
    EXPECT_FALSE(store->Load(id)) << id;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "r1.json"));
}

TEST(HttpStore, SaysThatAServerIsForReadingOnly) {
  const auto server = testing::FileServer::Start({.may_put = false});
  const auto store = *BaselineStore::Open(server->Url());
  EXPECT_THAT(*store->Runs(), IsEmpty());
  const auto added = store->Add(NewRecord("r1"), 0);
  ASSERT_FALSE(added);
  EXPECT_TRUE(store->IsReadOnly());
  EXPECT_THAT(added.error().message, HasSubstr("takes no PUT: it is for reading only"));
}

TEST(HttpStore, SendsTheTokenAndSaysWhenItIsWanting) {
  const auto server = testing::FileServer::Start({.token = "t0ken"});
  ::unsetenv("ASSAY_STORE_TOKEN");
  EXPECT_THAT((*BaselineStore::Open(server->Url()))->Runs().error().message, HasSubstr("$ASSAY_STORE_TOKEN"));
  ::setenv("ASSAY_STORE_TOKEN", "t0ken", 1);
  EXPECT_TRUE((*BaselineStore::Open(server->Url()))->Add(NewRecord("r1"), 0));
  ::unsetenv("ASSAY_STORE_TOKEN");
}

TEST(HttpStore, SaysThatNobodyAnswers) {
  const auto runs = (*BaselineStore::Open("http://user:pass@127.0.0.1:1/x"))->Runs();
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().kind, ErrorKind::kInfrastructure);
  EXPECT_THAT(runs.error().message, ::testing::Not(HasSubstr("pass")));
}

// Somebody else's index arrives between reading it and writing it.
TEST(HttpStore, WritesOverNothingThatItHasNotRead) {
  const auto server = testing::FileServer::Start({});
  const HttpFiles files(server->Url());
  server->SetFile("index.json", "one");
  const auto read = *files.Get("index.json");
  ASSERT_TRUE(read);
  server->SetFile("index.json", "two");
  EXPECT_EQ(*files.Put("index.json", "mine", read->etag), PutEnd::kReplaced);
  EXPECT_EQ(*files.Put("index.json", "mine", std::nullopt), PutEnd::kReplaced)
      << "it is there, so it is not new";
  EXPECT_EQ(server->File("index.json"), "two");
  EXPECT_EQ(server->Refused(), 2);
}

TEST(HttpStore, RefusesAnIndexThatIsNone) {
  const auto server = testing::FileServer::Start({});
  server->SetFile("index.json", "<html>login</html>");
  const auto runs = (*BaselineStore::Open(server->Url()))->Runs();
  ASSERT_FALSE(runs);
  EXPECT_THAT(runs.error().message, HasSubstr("/store/index.json: not readable as JSON"));
}

TEST(OpenStore, KnowsNoOtherKindOfAddress) {
  EXPECT_THAT(BaselineStore::Open("ssh://host/x").error().message, HasSubstr("assay baseline push"));
}

}  // namespace
}  // namespace assay::runner
