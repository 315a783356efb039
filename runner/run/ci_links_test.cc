#include "runner/run/ci_links.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace assay::runner {
namespace {

using Variables = std::map<std::string, std::string>;

// The variables of one CI, and of no other, while it lives.
class CiVariables {
 public:
  explicit CiVariables(const Variables& variables) {
    for (const char* name : {"BUILDKITE_BUILD_URL", "BUILDKITE_JOB_ID", "GITHUB_RUN_ID", "GITHUB_SERVER_URL",
                             "GITHUB_REPOSITORY", "GITHUB_RUN_ATTEMPT", "CI_JOB_URL", "BUILD_URL"}) {
      const char* before = std::getenv(name);
      before_[name] = before != nullptr ? before : "";
      ::unsetenv(name);
    }
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~CiVariables() {
    for (const auto& [name, value] : before_) {
      if (value.empty()) {
        ::unsetenv(name.c_str());
      } else {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST(DetectLinks, KnowsBuildkite) {
  const CiVariables ci(
      {{"BUILDKITE_BUILD_URL", "https://buildkite.com/o/p/builds/7"}, {"BUILDKITE_JOB_ID", "0199"}});
  EXPECT_EQ(DetectLinks("out/pr").job, "https://buildkite.com/o/p/builds/7#0199");
  EXPECT_EQ(DetectLinks("out/pr").folder, "out/pr");
  EXPECT_EQ(DetectLinks("/tmp/out").folder, "") << "it is not uploaded with the job";
}

TEST(DetectLinks, KnowsGithubGitlabAndJenkins) {
  {
    const CiVariables ci(Variables{{"GITHUB_SERVER_URL", "https://github.com"},
                                   {"GITHUB_REPOSITORY", "o/p"},
                                   {"GITHUB_RUN_ID", "42"},
                                   {"GITHUB_RUN_ATTEMPT", "2"}});
    EXPECT_EQ(DetectLinks("out").job, "https://github.com/o/p/actions/runs/42/attempts/2");
  }
  {
    const CiVariables ci(Variables{{"CI_JOB_URL", "https://gitlab.com/o/p/-/jobs/9"}});
    EXPECT_EQ(DetectLinks("out").artifacts, "https://gitlab.com/o/p/-/jobs/9/artifacts/browse");
  }
  const CiVariables ci(Variables{{"BUILD_URL", "https://jenkins/job/x/3/"}});
  EXPECT_EQ(DetectLinks("out").artifacts, "https://jenkins/job/x/3/artifact/");
}

TEST(DetectLinks, HasNoneOutsideOfCi) {
  const CiVariables none(Variables{});
  EXPECT_EQ(DetectLinks("out").job, "");
}

}  // namespace
}  // namespace assay::runner
