#include "reports/github_annotations.h"
#include "reports/html.h"
#include "reports/json.h"
#include "reports/junit.h"
#include "reports/markdown.h"
#include "reports/report.h"

namespace assay::reports {

const std::vector<Report>& ReportTable() {
  static const std::vector<Report> table = {
      {"markdown", "md", "report.md", "for a comment on the pull request, at most 60,000 characters",
       RenderComment},
      {"html", "", "report.html", "one file with plots, which needs no network", RenderHtml},
      {"junit", "xml", "junit.xml", "for Buildkite, GitLab and Jenkins", RenderJunit},
      {"json", "", "verdict.json", "verdict and run without samples, docs/verdict.schema.json", RenderJson},
      {"github", "", "github.md", "for $GITHUB_STEP_SUMMARY, at most 1 MB", RenderGithubSummary},
      {"annotations", "", "annotations.txt", "GitHub's ::error and ::warning lines, to be printed by a step",
       RenderGithubAnnotations},
      {"buildkite", "", "buildkite.md", "for buildkite-agent annotate, at most 1 MB", RenderBuildkite},
  };
  return table;
}

const Report* FindReport(std::string_view format) {
  for (const Report& report : ReportTable()) {
    if (report.format == format || (!format.empty() && report.short_name == format)) return &report;
  }
  return nullptr;
}

}  // namespace assay::reports
