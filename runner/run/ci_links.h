#pragma once

#include "base/file.h"
#include "reports/report.h"

namespace assay::runner {

// Whether this is a CI job for a pull request (Buildkite, GitHub, GitLab).
bool IsPullRequest();

// Where this CI job and its files can be seen, from the variables that Buildkite, GitHub, GitLab and Jenkins
// set. `folder` is the run's; one outside the job's working folder is not uploaded with it.
reports::Links DetectLinks(const Path& folder);

}  // namespace assay::runner
