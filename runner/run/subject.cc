#include "runner/run/subject.h"

#include "runner/run/ci_links.h"
#include "runner/run/environment.h"
#include "runner/run/repository_url.h"
#include "runner/store/git.h"

namespace assay::runner {
namespace {

std::string BranchFromCi() {
  if (IsPullRequest()) return "";
  for (const char* name : {"BUILDKITE_BRANCH", "GITHUB_REF_NAME", "CI_COMMIT_BRANCH"}) {
    if (const std::string branch = Environment(name); !branch.empty()) return branch;
  }
  return "";
}

}  // namespace

Subject DetectSubject(const Path& folder) {
  Subject subject;
  subject.commit = Git(folder, {"rev-parse", "HEAD"}).value_or("");
  if (subject.commit.empty()) return subject;
  subject.repository = WithoutCredentials(Git(folder, {"config", "--get", "remote.origin.url"}).value_or(""));
  subject.branch = Git(folder, {"symbolic-ref", "--short", "-q", "HEAD"}).value_or(BranchFromCi());
  const bool modified = !Git(folder, {"status", "--porcelain", "--untracked-files=no"}).value_or("").empty();
  if (modified) subject.branch += kModified;
  return subject;
}

}  // namespace assay::runner
