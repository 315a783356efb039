#include "runner/run/repository_url.h"

#include <gtest/gtest.h>

namespace assay::runner {
namespace {

// The forms of https://git-scm.com/docs/git-clone#_git_urls.
TEST(RepositoryPlace, IsTheSameForAllAddressesOfARepository) {
  for (const char* url :
       {"https://gitlab.example/team/server", "https://gitlab.example/team/server.git",
        "https://gitlab.example/team/server.git/", "http://gitlab.example:8080/team/server.git",
        "https://gitlab-ci-token:glcbt-64_secret@gitlab.example/team/server.git",
        "https://(hidden)@GitLab.example/team/server", "git@gitlab.example:team/server.git",
        "gitlab.example:/team/server", "ssh://git@gitlab.example:2222/team/server.git",
        "git://gitlab.example/team/server"}) {
    EXPECT_EQ(RepositoryPlace(url), "gitlab.example/team/server") << url;
  }
  EXPECT_EQ(RepositoryPlace("file:///srv/git/server.git"), RepositoryPlace("/srv/git/server"));
  EXPECT_EQ(RepositoryPlace("https://[2001:db8::1]:443/a"), "[2001:db8::1]/a");
}

TEST(RepositoryPlace, TellsRepositoriesApart) {
  const std::string one = RepositoryPlace("https://gitlab.example/team/server");
  for (const char* url :
       {"https://gitlab.example/team/server2", "https://gitlab.example/Team/server",
        "https://other.example/team/server", "git@gitlab.example:server", "/team/server", "./a:b", ""}) {
    EXPECT_NE(RepositoryPlace(url), one) << url;
  }
}

TEST(WithoutCredentials, HidesTokensAndLeavesCleanAddressesAsTheyAre) {
  EXPECT_EQ(WithoutCredentials("https://gitlab-ci-token:glcbt-64_secret@gitlab.example/team/server.git"),
            "https://(hidden)@gitlab.example/team/server.git");
  EXPECT_EQ(WithoutCredentials("https://ghp_secret@github.com/a/b"), "https://(hidden)@github.com/a/b");
  EXPECT_EQ(WithoutCredentials("ssh://git:secret@host/a"), "ssh://(hidden)@host/a");
  for (const char* url :
       {"https://github.com/a/b.git", "git@github.com:a/b.git", "ssh://git@github.com:22/a/b.git",
        "git+ssh://git@host/a", "/srv/git/a.git", "file:///srv/git/a", ""}) {
    EXPECT_EQ(WithoutCredentials(url), url);
  }
}

}  // namespace
}  // namespace assay::runner
