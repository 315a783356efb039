#pragma once

#include <string>

#include "reports/report.h"

namespace assay::reports {

// A pull request's comment: verdict first, then what to act on, then the tables; what holds is folded. GitHub
// refuses 65,536 characters; this keeps to 60,000.
std::string RenderComment(const ReportInput& input);

// The same for a GitHub step's summary, which may be 1 MiB: over that GitHub shows nothing at all.
std::string RenderGithubSummary(const ReportInput& input);

// The same for a Buildkite annotation of at most 1 MiB, with links to the job's artifacts.
std::string RenderBuildkite(const ReportInput& input);

// The page with what fits: `size` says how large a text is. Rows that pass go first, what fails stays.
std::string RenderWithin(const ReportInput& input, size_t limit, size_t (*size)(std::string_view));

}  // namespace assay::reports
