#include "runner/run/ci_links.h"

#include "base/text.h"
#include "runner/run/environment.h"

namespace assay::runner {
namespace {

reports::Links BuildkiteLinks(const std::string& build) {
  const std::string job = Environment("BUILDKITE_JOB_ID");
  return {build + (job.empty() ? "" : "#" + job), "", ""};
}

reports::Links GithubLinks(const std::string& run) {
  const std::string page =
      Environment("GITHUB_SERVER_URL") + "/" + Environment("GITHUB_REPOSITORY") + "/actions/runs/" + run;
  const std::string attempt = Environment("GITHUB_RUN_ATTEMPT");
  return {page + (attempt.empty() ? "" : "/attempts/" + attempt), page + "#artifacts", ""};
}

}  // namespace

bool IsPullRequest() {
  const std::string buildkite = Environment("BUILDKITE_PULL_REQUEST");
  return (!buildkite.empty() && buildkite != "false") ||
         StartsWith(Environment("GITHUB_EVENT_NAME"), "pull_request") ||
         !Environment("CI_MERGE_REQUEST_IID").empty();
}

reports::Links DetectLinks(const Path& folder) {
  reports::Links links;
  if (const std::string build = Environment("BUILDKITE_BUILD_URL"); !build.empty()) {
    links = BuildkiteLinks(build);
    if (folder.is_relative() && !StartsWith(folder.string(), "..")) links.folder = folder.string();
  } else if (const std::string run = Environment("GITHUB_RUN_ID"); !run.empty()) {
    links = GithubLinks(run);
  } else if (const std::string job = Environment("CI_JOB_URL"); !job.empty()) {
    links = {job, job + "/artifacts/browse", ""};
  } else if (const std::string jenkins = Environment("BUILD_URL"); !jenkins.empty()) {
    links = {jenkins, jenkins + "artifact/", ""};
  }
  return links;
}

}  // namespace assay::runner
