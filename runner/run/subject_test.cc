#include "runner/run/subject.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/text.h"
#include "testing/temp_dir.h"

namespace assay::runner {
namespace {

void Shell(const std::filesystem::path& folder, const std::string& command) {
  ASSERT_EQ(
      std::system(("cd " + ShellQuote(folder.string()) + " && " + command + " >/dev/null 2>&1").c_str()), 0);
}

class DetectSubjectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"BUILDKITE_BRANCH", "BUILDKITE_PULL_REQUEST", "GITHUB_REF_NAME",
                             "GITHUB_EVENT_NAME", "CI_COMMIT_BRANCH", "CI_MERGE_REQUEST_IID"}) {
      ::unsetenv(name);
    }
    Shell(folder_.path(),
          "git init -b main . && git config user.email a@b && git config user.name a && "
          "echo 1 > file && git add file && git commit -m one");
  }

  testing::TempDir folder_;
};

TEST_F(DetectSubjectTest, NamesTheBranchOfACleanCheckout) {
  const Subject subject = DetectSubject(folder_.path());
  EXPECT_EQ(subject.branch, "main");
  EXPECT_EQ(subject.commit.size(), 40u);
}

// GitLab clones with a token that is another in every job.
TEST_F(DetectSubjectTest, NamesTheRepositoryWithoutAToken) {
  Shell(folder_.path(),
        "git remote add origin https://gitlab-ci-token:glcbt-64_secret@gitlab.example/team/server.git");
  EXPECT_EQ(DetectSubject(folder_.path()).repository, "https://(hidden)@gitlab.example/team/server.git");
  Shell(folder_.path(), "git remote set-url origin git@gitlab.example:team/server.git");
  EXPECT_EQ(DetectSubject(folder_.path()).repository, "git@gitlab.example:team/server.git");
}

TEST_F(DetectSubjectTest, AModifiedCheckoutIsNotMain) {
  Shell(folder_.path(), "echo 2 > file");
  EXPECT_EQ(DetectSubject(folder_.path()).branch, "main (modified)");
}

TEST_F(DetectSubjectTest, OnADetachedHeadTheCiSystemNamesTheBranch) {
  Shell(folder_.path(), "git checkout --detach");
  EXPECT_EQ(DetectSubject(folder_.path()).branch, "");
  ::setenv("BUILDKITE_BRANCH", "main", 1);
  EXPECT_EQ(DetectSubject(folder_.path()).branch, "main");
}

TEST_F(DetectSubjectTest, APullRequestIsNeverTheBranchItTargets) {
  Shell(folder_.path(), "git checkout --detach");
  ::setenv("BUILDKITE_BRANCH", "main", 1);
  ::setenv("BUILDKITE_PULL_REQUEST", "38504", 1);
  EXPECT_EQ(DetectSubject(folder_.path()).branch, "");
  ::unsetenv("BUILDKITE_PULL_REQUEST");
  ::unsetenv("BUILDKITE_BRANCH");
}

TEST(DetectSubject, OutsideAnyCheckoutNothingIsKnown) {
  const testing::TempDir folder;
  const Subject subject = DetectSubject(folder.path());
  EXPECT_EQ(subject.branch, "");
  EXPECT_EQ(subject.commit, "");
}

}  // namespace
}  // namespace assay::runner
