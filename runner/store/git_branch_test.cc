#include "runner/store/git_branch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "runner/store/git.h"
#include "runner/store/store_test_support.h"
#include "testing/git_repository.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// A bare repository, as a server has it, and the stores of some machines.
class GitBranch : public ::testing::Test {
 protected:
  GitBranch() {
    EXPECT_TRUE(Git(folder_.path(), {"init", "--quiet", "--bare", "server"}));
    server_ = (folder_ / "server").string();
  }
  std::unique_ptr<BaselineStore> Machine(const std::string& name) const {
    return std::move(*BaselineStore::Open((folder_ / (name + ".db")).string()));
  }
  static std::set<std::string> Ids(BaselineStore& store) {
    std::set<std::string> ids;
    const auto runs = store.Runs();
    for (const StoredRun& run : *runs) ids.insert(run.id);
    return ids;
  }

  const testing::TempDir folder_;
  std::string server_;
};

TEST_F(GitBranch, CarriesRunsFromOneMachineToAnother) {
  const auto a = Machine("a"), b = Machine("b");
  ASSERT_TRUE(a->Add(NewRecord("r1"), 0));
  ASSERT_TRUE(a->Add(NewAcknowledgement("a1")));
  const auto pushed = PushToGit(*a, server_, kBaselineBranch);
  ASSERT_TRUE(pushed) << pushed.error().message;
  EXPECT_EQ(pushed->runs, 1);
  EXPECT_EQ(pushed->acknowledgements, 1);
  const auto pulled = PullFromGit(*b, server_, kBaselineBranch);
  ASSERT_TRUE(pulled) << pulled.error().message;
  EXPECT_EQ(pulled->runs, 1);
  EXPECT_EQ(record::ToJson(*b->Load("r1")), record::ToJson(*a->Load("r1")));
  EXPECT_EQ(b->Acknowledgements()->size(), 1u);
  EXPECT_EQ(PushToGit(*b, server_, kBaselineBranch)->runs, 0) << "there is nothing new";
}

TEST_F(GitBranch, IsAnOrphanWithNothingButRuns) {
  const auto a = Machine("a");
  ASSERT_TRUE(a->Add(NewRecord("r1"), 0));
  ASSERT_TRUE(PushToGit(*a, server_, kBaselineBranch));
  EXPECT_EQ(Git(server_, {"ls-tree", "-r", "--name-only", kBaselineBranch}).value_or(""), "runs/r1.json");
  EXPECT_EQ(Git(server_, {"rev-list", "--count", kBaselineBranch}).value_or(""), "1");
}

TEST_F(GitBranch, TakesPushesOfSeveralMachinesAtOnce) {
  constexpr int kMachines = 4;
  std::vector<pid_t> pushers;
  for (int i = 0; i < kMachines; ++i) {
    pushers.push_back(Fork([&] {
      const auto store = Machine("m" + std::to_string(i));
      return store->Add(NewRecord("r" + std::to_string(i)), 0) &&
             PushToGit(*store, server_, kBaselineBranch).has_value();
    }));
  }
  for (const pid_t pusher : pushers) EXPECT_EQ(Wait(pusher), 0);
  const auto all = Machine("all");
  ASSERT_TRUE(PullFromGit(*all, server_, kBaselineBranch));
  EXPECT_THAT(Ids(*all), UnorderedElementsAre("r0", "r1", "r2", "r3"));
}

TEST_F(GitBranch, SaysWhereThereIsNoneAndWhereThereIsNoRemote) {
  const auto a = Machine("a");
  EXPECT_THAT(PullFromGit(*a, server_, kBaselineBranch).error().message,
              HasSubstr("has no branch assay-baselines"));
  EXPECT_THAT(PullFromGit(*a, (folder_ / "nowhere").string(), kBaselineBranch).error().message,
              HasSubstr("nowhere"));
}

TEST(MergeBase, IsWhereTheChangeLeftTheBranch) {
  const testing::GitRepository repository;
  const auto head = [&] { return *Git(repository.path(), {"rev-parse", "HEAD"}); };
  repository.Commit("a", "1");
  const std::string first = head();
  repository.Git("checkout -q -b change");
  repository.Commit("b", "1");
  const std::string change = head();
  repository.Git("checkout -q main");
  repository.Commit("a", "2");
  const std::string second = head();
  EXPECT_EQ(MergeBase(repository.path(), change, "main", false).value_or("?"), first);
  // On the branch itself: the commit before, or this one where the checkout has edits.
  EXPECT_EQ(MergeBase(repository.path(), second, "main", false).value_or("?"), first);
  EXPECT_EQ(MergeBase(repository.path(), second, "main", true).value_or("?"), second);
  EXPECT_THAT(MergeBase(repository.path(), first, "main", false).error().message,
              HasSubstr("nothing before it"));
  const auto missing = MergeBase(repository.path(), change, "trunk", false);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(missing.error().message, HasSubstr("git fetch origin trunk"));
}

}  // namespace
}  // namespace assay::runner
